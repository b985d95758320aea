// A link of which a test says what it answers, and which notes what it is asked: for links that are
// made of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/link/link.h"
#include "am/types/types.h"

namespace am::link::test {

class FakeLink final : public Link {
 public:
  struct Packet {
    Rank to;
    std::vector<std::byte> bytes;
    bool operator==(const Packet&) const = default;
  };
  struct Put {
    Rank to;
    std::uint64_t offset;
    std::vector<std::byte> bytes;
    std::uint64_t word;
  };

  explicit FakeLink(std::string name) : name_(std::move(name)) {}

  // What it has been asked.
  std::vector<Packet> sent;
  std::vector<RmaAccess> accesses;
  std::vector<Put> puts;
  int polls = 0;
  int fetches = 0;
  int pushes = 0;
  int verified = 0;
  int driven = 0;
  std::uint32_t growing_bytes = 0;
  std::uint32_t growing_commits = 0;

  // What it answers.
  bool room = true;       // for accesses and puts
  bool completes = true;  // poll() completes what is in flight
  bool all_pushed = true;
  bool gathers_now = false;
  bool congested_now = false;
  bool ordered_writes = false;
  bool emulates = false;
  bool rma = true;
  bool sleeps = true;
  std::uint32_t grows_by = 0;  // bytes that the next packet of commit_growing() may still get
  std::uint64_t grows_until = ~std::uint64_t{0};
  int fd = -1;
  std::int64_t patience = -1;
  StrangerStats strangers{};
  RegistrationStats registrations{};
  std::deque<std::pair<Rank, PacketHeader>> incoming;  // for the next poll() or fetch()

  std::byte* claim(Rank to, std::uint32_t bytes) override {
    claimed_ = {to, std::vector<std::byte>(bytes)};
    return claimed_.bytes.data();
  }
  void commit(Rank to) override {
    claimed_.to = to;
    sent.push_back(std::exchange(claimed_, {}));
  }
  void commit_growing(Rank to) override {
    commit(to);
    if (grows_by == 0) return;
    std::vector<std::byte>& packet = sent.back().bytes;
    growing_bytes = static_cast<std::uint32_t>(packet.size());
    packet.resize(packet.size() + grows_by);
    growing_ = {.packet = packet.data(),
                .room = grows_by,
                .until = grows_until,
                .bytes = &growing_bytes,
                .commits = &growing_commits};
  }
  void grow_until(std::uint64_t ticks) noexcept { growing_.until = ticks; }
  Growing* growing(Rank) noexcept override { return grows_by != 0 ? &growing_ : nullptr; }
  bool push() override {
    ++pushes;
    return all_pushed;
  }
  bool gathers(Rank) const noexcept override { return gathers_now; }
  bool congested(Rank) const noexcept override { return congested_now; }

  int poll(PacketSink& sink) override {
    ++polls;
    int count = 0;
    deliver(sink, false, count);
    for (auto left = completes ? in_flight_.size() : 0; left != 0; --left, ++count) {
      Completion& next = *in_flight_.front();
      in_flight_.pop_front();
      link::complete(next);
    }
    return count;
  }
  bool fetch(PacketSink& sink) override {
    ++fetches;
    int count = 0;
    return deliver(sink, true, count);
  }
  bool busy() const noexcept override { return !in_flight_.empty(); }
  void forget(Rank) override {}
  void verify() override { ++verified; }
  void drive() noexcept override { ++driven; }

  bool has_rma() const noexcept override { return rma; }
  RemoteKey segment_key(Rank of) const noexcept override { return {of, name_.size()}; }
  bool try_access(const RmaAccess& access, Completion& completion) override {
    if (!room) return false;
    accesses.push_back(access);
    in_flight_.push_back(&completion);
    return true;
  }
  bool writes_before_packets(std::size_t) const noexcept override { return ordered_writes; }
  std::size_t max_put() const noexcept override { return 1'000 + name_.size(); }
  bool try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from, std::uint64_t word,
               Completion& completion) override {
    if (!room) return false;
    puts.push_back({to, offset, {from.begin(), from.end()}, word});
    in_flight_.push_back(&completion);
    return true;
  }
  unsigned arrival_bits() const noexcept override { return 32; }
  std::unique_ptr<Registration> register_memory(std::span<std::byte> range) override {
    struct Registered final : Registration {
      Registered(std::span<std::byte> at, std::uint64_t key) : Registration(at, {0, key}) {}
      void revoke() noexcept override {}
    };
    return std::make_unique<Registered>(range, name_.size());
  }
  RegistrationStats registration_stats() const override { return registrations; }
  const StrangerStats& stranger_stats() const noexcept override { return strangers; }
  bool prefers_packets() const noexcept override { return emulates; }

  int wait_fd() const noexcept override { return fd; }
  bool may_sleep() noexcept override { return sleeps; }
  std::int64_t patience_ns() const noexcept override { return patience; }
  std::string describe() const override { return name_; }

 private:
  bool deliver(PacketSink& sink, bool keeping, int& count) {
    while (!incoming.empty()) {
      if (keeping && sink.keeps(incoming.front().second)) return true;
      const auto [from, packet] = incoming.front();
      incoming.pop_front();
      ++count;
      sink.deliver(from, packet);
    }
    return false;
  }

  const std::string name_;
  Packet claimed_{};
  Growing growing_;
  std::deque<Completion*> in_flight_;
};

// Counts how often it is called.
struct Counting : Completion {
  Counting() {
    done = [](Completion& one) { ++static_cast<Counting&>(one).times; };
  }
  int times = 0;
};

// Notes who has sent what, and keeps, or throws at, packets of one type.
class NotingSink final : public PacketSink {
 public:
  std::vector<std::pair<Rank, Type>> come;
  Type kept = Type::kRequest;
  Type thrown_at = Type::kGone;

  void deliver(Rank from, const PacketHeader& packet) override {
    come.emplace_back(from, packet.type);
    if (packet.type == thrown_at) throw Error("on purpose");
  }
  bool arrived(std::uint64_t) override { return false; }
  bool keeps(const PacketHeader& packet) const noexcept override { return packet.type == kept; }
};

inline PacketHeader of_type(Type type) {
  return {.bytes = sizeof(PacketHeader),
          .type = type,
          .detail = 0,
          .data_bytes = 0,
          .handler = 0,
          .words = 0};
}

}  // namespace am::link::test
