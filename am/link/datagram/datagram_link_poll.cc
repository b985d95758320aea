// Datagrams that come.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "am/link/datagram/datagram_link.h"
#include "am/link/in_flight.h"
#include "am/types/clock.h"
#include "rdma/interface.h"

namespace am::link {
namespace {

constexpr unsigned kMostReads = 64;  // of one poll() or fetch()
constexpr unsigned kPollsPerLook = 4096;

std::string time_text(std::int64_t ns) {
  const std::int64_t seconds = ns / 1'000'000'000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " minutes";
}

}  // namespace

// How much one poll() or fetch() may take. A read of the network that finds nothing delays answers
// by as much as one that finds something: so as long as datagrams come one by one, a poll ends
// after the first. In a flood polls take more and more at a time, so that their answers share
// datagrams.
class DatagramLink::Turn {
 public:
  explicit Turn(unsigned& most_reads) noexcept : most_(most_reads) {}

  bool may_read() noexcept {
    if (reads_ == most_) {
      most_ = std::min(2 * most_, kMostReads);
      reads_ = kMostReads + 1;
    }
    return reads_ <= most_;
  }
  void read(bool found) noexcept {
    ++reads_;
    if (found) return;
    most_ = std::max(reads_ / 2, 1U);
    reads_ = kMostReads + 1;
  }
  // How many datagrams a read had better ask for.
  std::size_t batch(std::size_t most) const noexcept { return most_ == 1 ? 1 : most; }
  bool over() noexcept { return clock_.over(); }

 private:
  unsigned& most_;
  unsigned reads_ = 0;
  TurnClock clock_;
};

int DatagramLink::take(PacketSink& sink, bool keeping) {
  const int taken = keeping ? static_cast<int>(fetch_some(sink)) : poll_all(sink);
  stats_.lost = {.sent = counters_.data,
                 .repeated = counters_.repeated,
                 .twice = counters_.duplicates,
                 .damaged = counters_.forged + counters_.malformed};
  return taken;
}

int DatagramLink::poll_all(PacketSink& sink) {
  const Gathering gathering(polling_);
  Turn turn(most_reads_);
  const int count = deliver_all(sink, turn, false);
  if (++polls_ >= kPollsPerLook) {
    polls_ = 0;
    if (const std::int64_t now = now_ns(); now >= next_keep_alive_ns_) keep_alive(now);
  }
  serve_all();
  return count;
}

bool DatagramLink::fetch_some(PacketSink& sink) {
  const Gathering gathering(polling_);
  Turn turn(most_reads_);
  deliver_all(sink, turn, true);
  if (const std::int64_t now = now_ns(); now >= next_keep_alive_ns_) keep_alive(now);
  serve_all();
  return current_ != nullptr;
}

// What has come, as long as the turn lasts; with `keeping`, up to a packet that the sink keeps:
// then what comes behind it is kept here.
int DatagramLink::deliver_all(PacketSink& sink, Turn& turn, bool keeping) {
  int count = 0;
  bool kept = false;
  while (!turn.over()) {
    if (!kept && current_ != nullptr) kept = !deliver_current(sink, keeping, count);
    if (!kept && open_ready()) continue;
    if (!take_event(turn)) break;
  }
  return count;
}

// Packets of the open payload. False: the next one is kept.
bool DatagramLink::deliver_current(PacketSink& sink, bool keeping, int& count) {
  if (current_->dead) [[unlikely]] {
    close_current();
    return true;
  }
  window::Stream& stream = current_->peer->stream();
  for (;;) {
    const window::Stream::Next next = stream.next();
    if (next == window::Stream::Next::kEnd) break;
    if (next == window::Stream::Next::kDamaged) {
      give_up("a message of rank " + std::to_string(current_->rank) +
              " is damaged; all programs of a job must be built from the same Splitphase");
    }
    const PacketHeader& packet = stream.packet();
    if (keeping && sink.keeps(packet)) return false;
    stream.skip();  // first: the sink may throw
    ++count;
    sink.deliver(current_->rank, packet);
  }
  close_current();
  return true;
}

void DatagramLink::close_current() {
  if (received_with_ != nullptr) endpoint_.renew(*std::exchange(received_with_, nullptr));
  Route& r = *std::exchange(current_, nullptr);
  if (current_slot_ != nullptr) {
    early_.give_back(*std::exchange(current_slot_, nullptr));
    schedule(r, r.peer->deadline_ns());  // it may have to be told that there is room again
  }
  note_ready(r);
}

// A payload may have been kept that can be delivered now.
void DatagramLink::note_ready(Route& route) {
  if (route.peer->has_next() && !std::exchange(route.ready, true)) ready_.push_back(&route);
}

// Opens a payload that was kept and comes next in its stream. False: there is none.
bool DatagramLink::open_ready() {
  while (!ready_.empty()) {
    Route& r = *ready_.back();
    if (window::Slot* const slot = r.dead ? nullptr : r.peer->next_kept()) {
      current_ = &r;
      current_slot_ = slot;
      r.peer->stream().open(slot->payload());
      return true;
    }
    r.ready = false;
    ready_.pop_back();
  }
  return false;
}

// False: nothing has come, or enough for one turn.
bool DatagramLink::take_event(Turn& turn) {
  if (next_event_ == events_end_) {
    if (!turn.may_read()) return false;
    note_pause();
    next_event_ = 0;
    events_end_ = endpoint_.poll(std::span(events_).first(turn.batch(events_.size())));
    turn.read(events_end_ != 0);
    if (events_end_ == 0) return false;
  }
  const rdma::DatagramEvent& event = events_[static_cast<std::size_t>(next_event_++)];
  if (event.op->kind == rdma::Op::Kind::kReceive) {
    receive(*event.op, event.bytes);
  } else {
    finished(*event.op);
  }
  return true;
}

// What comes now may have waited since the network was read last.
void DatagramLink::note_pause() {
  const std::uint64_t now = ticks();
  if (now - std::exchange(read_ticks_, now) > pause_ticks_) shared_.resumed_ns = now_ns();
}

void DatagramLink::receive(rdma::Op& op, std::span<const std::byte> bytes) {
  window::Datagram datagram{};
  const window::Decoded how = window::decode(bytes, seal_, datagram);
  const Rank source = datagram.header.source;
  Route* const r =
      how == window::Decoded::kGood && source < routes_.size() ? routes_[source].get() : nullptr;
  if (r == nullptr) {
    endpoint_.renew(op);
    if (how == window::Decoded::kForged) {
      ++counters_.forged;
      return note_stranger();
    }
    ++counters_.malformed;
    return;
  }
  if (r->dead) [[unlikely]]
    return endpoint_.renew(op);
  heard(*r);
  switch (r->peer->receive(datagram, now_ns(), current_ == nullptr)) {
    case window::Peer::Received::kDeliver:
      current_ = r;
      received_with_ = &op;
      r->peer->stream().open(datagram.payload);
      break;
    case window::Peer::Received::kKept: note_ready(*r); [[fallthrough]];
    case window::Peer::Received::kNothing: endpoint_.renew(op); break;
  }
  schedule(*r, r->peer->deadline_ns());
}

// The room for what arrives is shared by those who have ever sent something.
void DatagramLink::heard(Route& route) {
  if (std::exchange(route.heard, true)) return;
  ++heard_;
  if (heard_ == 1) next_keep_alive_ns_ = now_ns() + window_options_.keep_alive_ns / 8;
  share_room();
}

std::size_t DatagramLink::room_bytes() const noexcept {
  return endpoint_.room_bytes(
      window::charge(static_cast<std::uint32_t>(endpoint_.datagram_bytes())));
}

// Four datagrams that fit into a frame of Ethernet at least.
void DatagramLink::share_room() noexcept {
  constexpr std::size_t kLeast = 4 * window::charge(window::Peer::kLeastFill);
  constexpr std::size_t kMost = std::size_t{32} << 20;
  shared_.room =
      static_cast<std::uint32_t>(std::clamp(room_bytes() / std::max(heard_, 1U), kLeast, kMost));
}

// Reports strangers once.
void DatagramLink::note_stranger() {
  ++stats_.strangers.frames;
  if (faults_ || std::exchange(warned_, true)) return;
  const rdma::SocketAddress own = rdma::socket_address(endpoint_.address());
  options_.warn(
      "datagrams that are not of this job, or were damaged on their way, have arrived at " +
      (own.address.empty() ? fabric_->describe() : rdma::to_string(own)) +
      " and were dropped; the job goes on (docs/security.md)");
}

void DatagramLink::lose(const Route& route) const {
  const std::string& refusal = endpoint_.last_refusal();
  give_up(
      "lost the way to rank " + std::to_string(route.rank) + ": it has not answered " +
      std::to_string(window_options_.most_questions) + " datagrams in a row" +
      (refusal.empty() ? "" : " (" + refusal + ")") +
      "; its process has ended, its machine cannot be reached, or it has not called the library "
      "for " +
      time_text(route.peer->unanswered_ns(now_ns())));
}

void DatagramLink::give_up(const std::string& sentence) const {
  options_.fatal(sentence);
  std::abort();  // not reached
}

}  // namespace am::link
