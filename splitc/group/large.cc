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
  if (!world().remote().try_put(group_.proc(exchange.step->peer), exchange.large->key,
                                {at(from), from.bytes}, write)) {
    write.self = nullptr;
    return false;
  }
  set(exchange, State::kWriting);
  return true;
}

// pairs with: the completion in try_write().
bool Performer::is_writing() const noexcept {
  return std::ranges::any_of(exchanges_, [](const Exchange& one) {
    return one.state == State::kWriting &&
           !one.large->write->is_done.load(std::memory_order_acquire);
  });
}

// Of another node: says where the network may write it, if it can.
bool Performer::try_ask_for(Exchange& exchange) {
  World& w = world();
  const am::schedule::Range& to = exchange.step->to;
  const std::uint32_t proc = group_.proc(exchange.step->peer);
  if (!is_far(proc) || !w.remote().can_expose()) {
    return try_answer(exchange, Kind::kWanted, State::kInPieces);
  }
  const std::uint64_t offset = w.router().segment_offset(at(to));
  am::link::RemoteKey key = am::link::RemoteKey::in_segment(offset);
  if (!is_in_segment(offset, to.bytes)) {
    try {
      if (!exchange.large->registration)
        exchange.large->registration = w.remote().expose({at(to), to.bytes});
    } catch (const am::Error&) {  // no more may be registered
      return try_answer(exchange, Kind::kWanted, State::kInPieces);
    }
    key = exchange.large->registration->key();
  }
  return try_answer(exchange, Kind::kWanted, State::kInPieces, std::as_bytes(std::span(&key, 1)));
}

}  // namespace splitc::detail
