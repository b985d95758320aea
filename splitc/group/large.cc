// What a performer does for exchanges of many bytes.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "am/core/far/remote_memory.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/group/groups.h"
#include "splitc/group/performer.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using State = Exchange::State;
using Kind = MailHead::Kind;

}  // namespace

// Its receiver asks for it at once, or it comes unasked. Where all wait for one another no process
// has to keep more than one of these. (32 KiB to each of two processes over TCP: asked for 31 us,
// unasked 21; 64 KiB 52, 40, but of four on two cores, which copying keeps busy, 340, 410.)
void Performer::begin_large(Exchange& exchange) const {
  exchange.large = std::make_unique<LargeExchange>();
  const std::uint64_t most = Exchange::kUnasked / (group_.size() == 2 ? 1 : 2);
  if (plan_.needs_all() ? exchange.bytes() <= most : group_.goes_unasked()) {
    exchange.state = exchange.sends() ? State::kToSendPieces : State::kInPieces;
  } else {
    exchange.state = exchange.sends() ? State::kToBeAskedFor : State::kToAskFor;
  }
}

// False: that does not come now.
bool Performer::arrived_of_large(Exchange& exchange, const MailHead& head,
                                 std::span<const std::byte> bytes, std::uint64_t at) {
  LargeExchange& large = *exchange.large;
  const am::schedule::Range& to = exchange.step->to;
  switch (head.kind) {
    case Kind::kWanted:
      if (exchange.state != State::kToBeAskedFor) return false;
      if (bytes.size() == sizeof large.key) {
        std::memcpy(&large.key, bytes.data(), sizeof large.key);
        set(exchange, State::kToWrite);
      } else {
        set(exchange, State::kToSendPieces);
      }
      return true;
    case Kind::kPiece:
    case Kind::kWritten:
      if (exchange.state != State::kInPieces) return false;
      if (head.kind == Kind::kPiece) {
        if (at > to.bytes || bytes.size() > to.bytes - at) return false;
        std::memcpy(this->at(to) + at, bytes.data(), bytes.size());
        large.at += bytes.size();
      }
      if (head.kind == Kind::kWritten || large.at == to.bytes) set(exchange, State::kDone);
      return true;
    default: return false;
  }
}

bool Performer::try_send_pieces(Exchange& exchange) {
  const am::schedule::Range& from = exchange.step->from;
  const std::uint32_t proc = group_.proc(exchange.step->peer);
  Mail& mail = Groups::of_world().mail();
  while (exchange.large->at < from.bytes) {
    const std::size_t bytes = std::min<std::size_t>(Mail::kMost, from.bytes - exchange.large->at);
    // In one send: all_gather of 8 KiB of 4, 8 processes 52, 214 us; without this 102, 289.
    const bool is_last = exchange.large->at + bytes == from.bytes;
    const am::RemoteMemory::MoreToCome more_to_come(*context().remote, !is_last && is_far(proc));
    if (!mail.try_send(proc, head(Kind::kPiece, exchange.number),
                       {at(from) + exchange.large->at, bytes}, exchange.large->at)) {
      return false;
    }
    exchange.large->at += bytes;
  }
  set(exchange, State::kDone);
  return true;
}

// By the network, to where the receiver needs it.
bool Performer::try_write(Exchange& exchange) {
  const am::schedule::Range& from = exchange.step->from;
  if (!exchange.large->write) exchange.large->write = std::make_shared<NetworkWrite>();
  NetworkWrite& write = *exchange.large->write;
  write.self = exchange.large->write;
  write.done = [](am::link::Completion& completion) {
    auto& ended = static_cast<NetworkWrite&>(completion);
    const std::shared_ptr<NetworkWrite> last = std::move(ended.self);
    ended.is_done.store(true, std::memory_order_release);  // pairs with: try_act()
  };
  if (!context().remote->try_put(group_.proc(exchange.step->peer), exchange.large->key,
                                 {at(from), from.bytes}, write)) {
    write.self = nullptr;
    return false;
  }
  // (all_to_all of 128 KiB of two processes over TCP: 67 us; said after the write has ended, 73.)
  set(exchange,
      context().remote->puts_before_messages(from.bytes) ? State::kToSayWritten : State::kWriting);
  return true;
}

bool Performer::stop(const MailHead& head) noexcept {
  Exchange* const exchange = has_begun_ ? find(head.source, head.number, true) : nullptr;
  if (exchange == nullptr || !exchange->large) return false;
  if (exchange->state == State::kToWrite) set(*exchange, State::kToBeAskedFor);
  return exchange->state == State::kWriting || exchange->state == State::kToSayWritten;
}

void Performer::stopped(std::uint32_t proc, std::uint32_t number, bool is_writing) noexcept {
  for (Exchange& one : exchanges_) {
    if (one.sends() || one.number != number || group_.proc(one.step->peer) != proc) continue;
    if (is_writing || one.state == State::kDone || !one.large || !one.large->asked_to_stop)
      continue;
    set(one, State::kDone);
  }
}

// The call ends early: whether the network writes nothing more to this member. Its senders are
// asked to leave that, wherever they are.
bool Performer::is_written() noexcept {
  bool all = true;
  for (Exchange& one : exchanges_) {
    if (one.sends() || one.state == State::kDone || !one.large || !one.large->is_exposed) continue;
    all = false;
    one.large->asked_to_stop = one.large->asked_to_stop ||
                               Groups::of_world().mail().try_stop(group_.proc(one.step->peer),
                                                                  head(Kind::kWhole, one.number));
  }
  return all;
}

// By a verdict: when nothing of the program's memory is used any more. What has been published of
// it is taken back, as others may be reading it (try_read()).
bool Performer::leave() {
  bool is_writing = false;
  for (Exchange& one : exchanges_) {
    while (one.state == State::kWriting || one.state == State::kToSayWritten) {
      if (try_act(one)) continue;
      is_writing = true;
      break;
    }
  }
  if (is_writing || !is_written()) return false;
  if (stream_) large_items_[large_++] = *stream_;
  for (; large_ != 0; --large_) {
    NodeBoard::Item& item =
        group_.board(group_.rank()).item(made_.number, large_items_[large_ - 1].item);
    item.number.store(0, std::memory_order_relaxed);
  }
  // pairs with: try_read(); who then finds the number unchanged has read the memory before.
  std::atomic_thread_fence(std::memory_order_release);
  return end();
}

// Of another node: says where the network may write it, if it can.
bool Performer::try_ask_for(Exchange& exchange) {
  const am::schedule::Range& to = exchange.step->to;
  const std::uint32_t proc = group_.proc(exchange.step->peer);
  if (!is_far(proc) || !context().remote->can_expose()) {
    return try_answer(exchange, Kind::kWanted, State::kInPieces);
  }
  const std::uint64_t offset = world().router().segment_offset(at(to));
  am::link::RemoteKey key = am::link::RemoteKey::in_segment(offset);
  if (!is_in_segment(offset, to.bytes)) {
    try {
      if (!exchange.large->registration)
        exchange.large->registration = context().remote->expose({at(to), to.bytes});
    } catch (const am::Error&) {  // no more may be registered
      return try_answer(exchange, Kind::kWanted, State::kInPieces);
    }
    key = exchange.large->registration->key();
  }
  exchange.large->is_exposed =
      try_answer(exchange, Kind::kWanted, State::kInPieces, std::as_bytes(std::span(&key, 1)));
  return exchange.large->is_exposed;
}

}  // namespace splitc::detail
