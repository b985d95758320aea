// Packets that leave: when their datagrams are sent.
#include <algorithm>
#include <cstring>
#include <utility>

#include "am/link/datagram/datagram_link.h"
#include "am/types/clock.h"

namespace am::link {
namespace {

// Datagrams queued for one process from which on queue() says that it is full: as many bytes
// as FabricLink lets wait.
constexpr std::size_t kCongestedBytes = 98'304;
// Where the provider has no room: until then others have their turn.
constexpr std::int64_t kAgainNs = 10'000;
// Of datagrams, that a process keeps when it has not needed it for long.
constexpr std::size_t kKeptBytes = std::size_t{3} << 20;
// As soon as so much waits, what is full leaves: the receiver reads it while more is written.
constexpr std::size_t kPartBytes = 24'576;

}  // namespace

std::byte* DatagramLink::claim(Rank to, std::uint32_t bytes) {
  if (routes_[to]->dead) [[unlikely]]
    return staging_.bytes;  // which nobody reads
  return routes_[to]->peer->claim(bytes);
}

// What was sent to it stays in its window: the network may be reading it.
void DatagramLink::forget(Rank dead) {
  Route& r = *routes_[dead];
  if (std::exchange(r.dead, true)) return;
  r.due_ns = window::Peer::kNever;
  if (std::exchange(r.heard, false)) --heard_;
}

Tail* DatagramLink::commit(Rank to, Next next) {
  Route& r = *routes_[to];
  if (r.dead) [[unlikely]]
    return nullptr;
  r.peer->commit();
  if (next != Next::kSoon) ++stats_.sent.messages;
  if (next == Next::kSoon || gathers(r)) {
    schedule(r, 0);
    if (r.peer->queued_bytes() >= kPartBytes) serve_full(r);
  } else {
    serve(r, now_ns());
  }
  return nullptr;
}

bool DatagramLink::gathers(const Route& route) const noexcept {
  return polling_ || ticks() - route.sent_ticks < gather_ticks_;
}

Queue DatagramLink::queue(Rank to, std::size_t /*written*/) {
  const Route& r = *routes_[to];
  if (!r.dead && r.peer->queued_bytes() >= kCongestedBytes) return Queue::kFull;
  return gathers(r) ? Queue::kOpen : Queue::kEmpty;
}

bool DatagramLink::flush() {
  serve_all();
  return std::ranges::none_of(
      active_, [](const Route* one) { return !one->dead && one->peer->queued() != 0; });
}

void DatagramLink::activate(Route& route) {
  if (std::exchange(route.active, true)) return;
  active_.push_back(&route);
}

void DatagramLink::serve(Route& r, std::int64_t now_ns) {
  const bool room = send_all(r, now_ns, false);
  if (r.peer->dead()) {
    if (!options_.has_died || !options_.has_died(r.rank)) lose(r);
    return forget(r.rank);
  }
  schedule(r, room ? r.peer->deadline_ns() : now_ns + kAgainNs);
}

// Sends those that are full, while more packets follow.
void DatagramLink::serve_full(Route& r) {
  if (r.peer->queued() > 1) static_cast<void>(send_all(r, now_ns(), true));
}

// False: the provider has no room.
bool DatagramLink::send_all(Route& r, std::int64_t now_ns, bool full) {
  bool room = true;
  while (room) {
    const window::Outgoing next = r.peer->prepare(now_ns, full);
    if (!next) break;
    room = send(r, next);
  }
  send_held_back();
  return room && !endpoint_.holds_back();
}

// What was held back to be sent together.
void DatagramLink::send_held_back() {
  for (const rdma::Op* const op : endpoint_.flush()) read(*op);
}

void DatagramLink::schedule(Route& route, std::int64_t due_ns) {
  if (route.dead) [[unlikely]]
    return;
  route.due_ns = due_ns;
  if (due_ns != window::Peer::kNever) activate(route);
}

// False: the provider has no room.
bool DatagramLink::send(Route& r, const window::Outgoing& outgoing) {
  bool in_flight = false;
  if (faults_) [[unlikely]] {
    faults_->pass(r.rank, outgoing.bytes, now_ns(), [this](Rank to, auto bytes) {
      static_cast<void>(send_copy(*routes_[to], bytes));  // no room: one more that is lost
    });
  } else if (outgoing.slot == nullptr) {
    if (!send_copy(r, outgoing.bytes)) return false;
  } else {
    const auto sent = start(r, outgoing.bytes, *outgoing.slot, &r, r.peer->queued() > 1);
    if (sent == rdma::DatagramEndpoint::Sent::kNoRoom) return false;
    in_flight = sent == rdma::DatagramEndpoint::Sent::kInFlight;
  }
  r.peer->sent(outgoing, in_flight);
  if (outgoing.slot == nullptr) return true;
  r.sent_ticks = ticks();
  stats_.sent += {1, 0, outgoing.bytes.size(), 0};
  return true;
}

// Sends what is in no slot, from memory that the network can read for as long as it wants. False:
// the provider has no room.
bool DatagramLink::send_copy(Route& r, std::span<const std::byte> bytes) {
  std::memcpy(bare_->memory.data(), bytes.data(), bytes.size());
  outgoing_.reserve(1, endpoint_.datagram_bytes());  // if the network keeps this one
  const auto sent = start(r, bare_->memory.first(bytes.size()), *bare_, nullptr, false);
  if (sent == rdma::DatagramEndpoint::Sent::kInFlight) {
    bare_ = outgoing_.take(endpoint_.datagram_bytes());
  }
  return sent != rdma::DatagramEndpoint::Sent::kNoRoom;
}

// Gives the network a datagram in `slot`, of `owner`'s peer; nullptr: of nobody.
rdma::DatagramEndpoint::Sent DatagramLink::start(const Route& to, std::span<const std::byte> bytes,
                                                 window::Slot& slot, Route* owner, bool more) {
  Send& sending = sends_.take([](Send&, std::uint32_t) {});
  auto sent = endpoint_.try_send(to.address, bytes, slot.descriptor, sending.op, more);
  if (sent == rdma::DatagramEndpoint::Sent::kNoRoom && endpoint_.holds_back()) {
    send_held_back();
    sent = endpoint_.try_send(to.address, bytes, slot.descriptor, sending.op, more);
  }
  if (sent == rdma::DatagramEndpoint::Sent::kInFlight) {
    sending.owner = owner;
    sending.slot = &slot;
  } else {
    sends_.give_back(sending);
  }
  return sent;
}

// The network has read what a send sent, in a call of poll().
void DatagramLink::finished(const rdma::Op& op) {
  Route* const owner = reinterpret_cast<const Send&>(op).owner;  // its first member
  read(op);
  if (owner != nullptr) schedule(*owner, 0);  // it may have waited for that
}

void DatagramLink::read(const rdma::Op& op) {
  Send& send = reinterpret_cast<Send&>(const_cast<rdma::Op&>(op));
  if (send.owner != nullptr) {
    send.owner->peer->completed(*send.slot);
  } else {
    outgoing_.give_back(*send.slot);
  }
  sends_.give_back(send);
}

// Those that are due. Those with nothing more to do some time are not active any more.
void DatagramLink::serve_all() {
  if (active_.empty() && !faults_) return;
  if (endpoint_.holds_back()) [[unlikely]]
    send_held_back();
  const std::int64_t now = now_ns();
  if (faults_) {
    faults_->release(
        now, [this](Rank to, auto bytes) { static_cast<void>(send_copy(*routes_[to], bytes)); });
  }
  for (std::size_t i = 0; i < active_.size();) {
    Route& r = *active_[i];
    if (r.due_ns != window::Peer::kNever && r.due_ns <= now) serve(r, now);
    if (r.due_ns != window::Peer::kNever) {
      ++i;
      continue;
    }
    r.active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
}

void DatagramLink::keep_alive(std::int64_t now_ns) {
  next_keep_alive_ns_ = now_ns + window_options_.keep_alive_ns / 8;
  outgoing_.trim(kKeptBytes);
  early_.trim(kKeptBytes);
  for (const auto& one : routes_) {
    if (!one || !one->heard) continue;
    one->peer->keep_alive(now_ns);
    if (one->peer->deadline_ns() == window::Peer::kNever) continue;
    schedule(*one, 0);
  }
}

void DatagramLink::verify() {
  for (const auto& one : routes_) {
    if (!one || !one->heard) continue;
    one->peer->probe();
    schedule(*one, 0);
  }
  serve_all();
}

std::int64_t DatagramLink::longest_sleep_ns() noexcept {
  if (endpoint_.wait_fd() >= 0 && (next_event_ != events_end_ || !endpoint_.may_sleep())) return 0;
  const std::int64_t now = now_ns();
  std::int64_t until = heard_ != 0 ? next_keep_alive_ns_ : -1;
  for (const Route* const one : active_) until = earlier(until, one->due_ns);
  if (faults_) until = earlier(until, faults_->next_ns());
  return until < 0 ? -1 : std::max<std::int64_t>(until - now, 0);
}

}  // namespace am::link
