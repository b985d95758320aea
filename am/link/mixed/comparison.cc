#include "am/link/mixed/comparison.h"

#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "am/link/packet.h"
#include "am/types/clock.h"

namespace am::link {
namespace {

constexpr int kTrips = 16;  // of one round
constexpr int kRounds = 6;
constexpr int kBulkRounds = 2;
constexpr std::int64_t kPatienceNs = 250'000'000;  // for an answer over datagrams
constexpr std::size_t kPiece = 65'536;             // of a read; no segment is smaller

// In the header's detail.
enum Verb : std::uint8_t { kSilent, kAsk, kAnswer, kDone };

// Sends a packet with `bytes` behind its header.
void send(Link& link, Rank to, Verb verb, std::size_t bytes = 0) {
  const auto packet_bytes = static_cast<std::uint32_t>(sizeof(Access) + bytes);
  const Access packet{make_header(Type::kPut, packet_bytes, bytes, verb), 0, 0};
  std::byte* const at = link.claim(to, packet_bytes);
  std::memcpy(at, &packet, sizeof packet);
  std::memset(at + sizeof packet, 0, bytes);
  link.commit(to);
}

// What comes while links are measured.
class Talk final : public PacketSink {
 public:
  explicit Talk(Link& link) noexcept : link_(link) {}

  void deliver(Rank from, const PacketHeader& packet) override {
    if (packet.detail == kAsk || packet.detail == kDone) send(link_, from, kAnswer);
    if (packet.detail == kAnswer) ++answers_;
    if (packet.detail == kDone) done_ = true;
  }
  bool arrived(std::uint64_t) override { return false; }
  bool keeps(const PacketHeader&) const noexcept override { return false; }

  void poll() {
    if (link_.poll(*this) == 0) std::this_thread::yield();
  }
  bool done() const noexcept { return done_; }
  std::uint64_t answers() const noexcept { return answers_; }
  // Polls until `condition` holds. False: it takes longer than `patience_ns`; 0: no limit.
  template <class Condition>
  bool await(Condition&& condition, std::int64_t patience_ns = 0) {
    const std::int64_t begun = now_ns();
    while (!condition()) {
      poll();
      if (patience_ns != 0 && now_ns() - begun > patience_ns) return false;
    }
    return true;
  }

 private:
  Link& link_;
  std::uint64_t answers_ = 0;
  bool done_ = false;
};

// The reads of one measurement.
struct Reads : Completion {
  static void ended(Completion& completion) { ++static_cast<Reads&>(completion).done_count; }
  Reads() noexcept { done = &ended; }

  std::uint64_t done_count = 0;
};

// One link, towards one process.
class Measured {
 public:
  // `patience_ns` for each answer; 0: no limit.
  Measured(Link& link, Rank to, std::int64_t patience_ns) noexcept
      : link_(link), to_(to), patience_ns_(patience_ns), talk_(link) {}

  bool answers(Verb verb = kAsk, std::size_t bytes = 0) {
    const std::uint64_t awaited = talk_.answers() + 1;
    send(link_, to_, verb, bytes);
    return await([&] { return talk_.answers() == awaited; });
  }
  // A round trip, in ns; 0: there was no answer.
  std::int64_t trip() {
    const std::int64_t begun = now_ns();
    for (int i = 0; i < kTrips; ++i) {
      if (!answers()) return 0;
    }
    return (now_ns() - begun) / kTrips;
  }
  // Comparison::kBulk by packets; 0: there was no answer.
  std::int64_t packets() {
    const std::int64_t begun = now_ns();
    for (std::uint64_t left = Comparison::kBulk; left != kMaxData; left -= kMaxData) {
      if (!await([&] { return !link_.congested(to_); })) return 0;
      send(link_, to_, kSilent, kMaxData);
    }
    return answers(kAsk, kMaxData) ? now_ns() - begun : 0;
  }
  // ... by RMA. Reads: nobody's memory changes.
  std::int64_t reads() {
    if (!link_.has_rma()) return 0;
    std::vector<std::byte> memory(kPiece);
    Reads reads;
    const std::int64_t begun = now_ns();
    const RmaAccess one = RmaAccess::read(to_, link_.segment_key(to_), memory);
    constexpr std::uint64_t kCount = Comparison::kBulk / kPiece;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      await([&] { return link_.try_access(one, reads); });
    }
    await([&] { return reads.done_count == kCount; });
    return now_ns() - begun;
  }

 private:
  template <class Condition>
  bool await(Condition&& condition) {
    return talk_.await(std::forward<Condition>(condition), patience_ns_);
  }

  Link& link_;
  const Rank to_;
  const std::int64_t patience_ns_;
  Talk talk_;
};

void note(std::int64_t& best, std::int64_t one) {
  if (best == 0 || one < best) best = one;
}

}  // namespace

Comparison Comparer::measure(std::span<const Rank> others) {
  Comparison result;
  bool reached = true;
  for (const Rank other : others) {
    reached = reached && Measured(datagrams_, other, kPatienceNs).answers();
  }
  Measured reliable(reliable_, others.front(), 0);
  Measured datagrams(datagrams_, others.front(), kPatienceNs);
  for (int i = 0; reached && i < kRounds; ++i) {
    note(result.reliable_trip_ns, reliable.trip());
    const std::int64_t trip = datagrams.trip();
    reached = trip != 0;
    note(result.datagram_trip_ns, trip);
  }
  for (int i = 0; reached && i < kBulkRounds; ++i) {
    note(result.rma_bulk_ns, reliable.reads());
    const std::int64_t bulk = datagrams.packets();
    reached = bulk != 0;
    note(result.datagram_bulk_ns, bulk);
  }
  if (!reached) result.datagram_trip_ns = result.datagram_bulk_ns = 0;
  for (const Rank other : others) Measured(reliable_, other, 0).answers(kDone);
  return result;
}

void Comparer::answer() {
  Talk over_reliable(reliable_);
  Talk over_datagrams(datagrams_);
  while (!over_reliable.done()) {
    over_reliable.poll();
    over_datagrams.poll();
  }
  over_reliable.await([&] { return !reliable_.busy(); });
}

std::string Comparison::describe() const {
  if (datagram_trip_ns == 0) return "datagrams do not come through";
  char text[160];
  const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1e3; };
  std::snprintf(text, sizeof text,
                "short messages there and back in %.1f us, by datagrams in %.1f; 1 MiB ",
                us(reliable_trip_ns), us(datagram_trip_ns));
  std::string line = text;
  std::snprintf(text, sizeof text, "in %.0f us by RMA, ", us(rma_bulk_ns));
  line += rma_bulk_ns == 0 ? "" : text;
  std::snprintf(text, sizeof text, "in %.0f us by datagrams", us(datagram_bulk_ns));
  return line + text;
}

}  // namespace am::link
