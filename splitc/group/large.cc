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

// As memmove(). glibc copies more than 2 KiB by `rep movsb`, which takes 17 times as long on AMD's
// Zen where `to` is up to 31 bytes behind `from` in their pages, as it is of two vectors of 64 KiB
// that malloc() gives one after the other: 10.7 us for 32 KiB; in parts 2.3 us, elsewhere 0.6.
void Performer::copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t kPage = 4096, kPart = 1024;
  if (to == from || bytes == 0) return;
  const std::size_t behind =
      reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  if (behind % kPage >= 32 || behind % kPage == 0 || behind < bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += kPart) {
    std::memcpy(to + at, from + at, std::min(kPart, bytes - at));
  }
}

// False: that does not come now.
bool Performer::arrived_of_large(Exchange& exchange, const MailHead& head,
                                 std::span<const std::byte> bytes, std::uint64_t at) {
  LargeExchange& large = *exchange.large;
  const am::schedule::Range& to = exchange.step->to;
  switch (head.kind) {
    case Kind::kOffer:
      if (exchange.state != State::kAwaited || bytes.size() != sizeof large.offer) return false;
      std::memcpy(&large.offer, bytes.data(), sizeof large.offer);
      set(exchange, State::kToRead);
      return true;
    case Kind::kTaken:
    case Kind::kWanted:
      if (exchange.state != State::kOffered) return false;
      if (head.kind == Kind::kTaken) {
        set(exchange, State::kDone);
      } else if (bytes.size() == sizeof large.key) {
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

// Where neighbours find it in this process's segment, to which it is copied if there is room. Each
// of several that are to have the same is told the same place.
std::uint64_t Performer::offset_of(const am::schedule::Range& from) {
  World& w = world();
  const std::byte* const bytes = at(from);
  const std::uint64_t offset = w.router().segment_offset(bytes);
  if (is_in_segment(offset, from.bytes)) return offset;
  if (staged_ == from) return staged_at_;
  const std::span<std::byte> room = w.staging();
  if (from.bytes > room.size() - staged_bytes_) return offset;
  if (!stages_ && !Groups::of_world().take_staging()) return offset;
  stages_ = true;
  std::byte* const to = room.data() + staged_bytes_;
  copy_bytes(to, bytes, from.bytes);
  staged_ = from;
  staged_at_ = w.router().segment_offset(to);
  staged_bytes_ += std::min((from.bytes + 63) / 64 * 64, room.size() - staged_bytes_);
  return staged_at_;
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

// Whether what has been offered could be read.
bool Performer::try_read(const Exchange& exchange) {
  const am::schedule::Range& to = exchange.step->to;
  const std::uint32_t proc = group_.proc(exchange.step->peer);
  const Offer& offer = exchange.large->offer;
  if (is_far(proc)) return false;
  if (is_in_segment(offer.segment_offset, to.bytes)) {
    copy_bytes(at(to), mapped(proc, offer.segment_offset), to.bytes);
    return true;
  }
  if (!Groups::of_world().can_read(proc, offer.sender)) return false;
  try {
    offer.sender.read(at(to), offer.address, to.bytes);
    return true;
  } catch (const am::Error&) {
    return false;  // memory that the kernel does not copy; or the sender has died
  }
}

}  // namespace splitc::detail
