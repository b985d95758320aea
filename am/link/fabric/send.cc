// Packets that leave: into which frame they go, and when that is sent.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/types/clock.h"
#include "rdma/error.h"

namespace am::link {
namespace {

// Bytes queued for one process from which on queue() says that it is full.
constexpr std::size_t kCongested = std::size_t{128} << 10;

// Bytes that had better share a frame with others where packets come in a row.
constexpr std::size_t kGathered = 32'768;

// Times gather_ticks_: how long packets of a stream gather, which is when this frame or the last
// one holds several. There none is urgent, and more of them share the system call: 8 times rather
// than 4 give 40 million stores a second for 28, and one-way requests 8 % more; 16 times nothing
// more.
constexpr std::uint64_t kStreamTimes = 8;

}  // namespace

void FabricLink::list(Route& r) {
  if (std::exchange(r.listed, true)) return;
  unsent_.push_back(&r);
}

bool FabricLink::may_inject(const Route& route, std::size_t bytes) const noexcept {
  return bytes <= fabric_->inject_bytes() && route.unsignaled < kMaxUnsignaled;
}

// True: it was injected, and the frame is empty again; or it is in flight, and its completion will
// be reported.
[[gnu::always_inline]] inline bool FabricLink::try_start(Frame& frame) {
  Route& r = *frame.route;
  if (!frames_in_flight_.available(r.frames)) return false;
  const std::span<const std::byte> bytes(frame.data, frame.bytes);
  const std::uint32_t number = r.sent + 1;
  std::memcpy(frame.data + offsetof(FrameHeader, number), &number, sizeof number);
  r.streams = frame.commits > 1;
  const SendStats one{1, frame.commits, bytes.size(), 0};
  try {
    if (may_inject(r, bytes.size())) {
      if (!endpoint_.try_inject(r.address, bytes)) return false;
      frame.bytes = sizeof(FrameHeader);
      frame.commits = 0;
      ++r.unsignaled;
      r.sent = number;
      stats_.sent += one;
      return true;
    }
    if (!endpoint_.try_send(r.address, bytes, frame.descriptor, frame.op)) return false;
  } catch (const rdma::Error& error) {
    not_started(r.rank, error);
    return false;
  }
  if (r.open == &frame) r.open = nullptr;
  r.sent = number;
  stats_.sent += one;
  frames_in_flight_.take(r.frames);
  return true;
}

// Sends what `r` has, as far as the provider takes it. Part of commit(), which nearly every packet
// goes through.
[[gnu::always_inline]] inline void FabricLink::start_here(Route& r) {
  r.tail.packet = nullptr;
  if (r.dead) [[unlikely]]
    return;
  if (!r.waiting.empty()) restart(r);
  if (r.open == nullptr || r.open->empty()) return;
  if (!r.waiting.empty() || !try_start(*r.open)) return list(r);
  r.sent_ticks = ticks();
}

std::byte* FabricLink::claim(Rank to, std::uint32_t bytes) {
  Route& r = route(to);
  r.tail.packet = nullptr;
  if (r.open != nullptr && r.open->room() < bytes) start(r);
  if (r.open == nullptr || r.open->room() < bytes) {
    if (r.open != nullptr) r.waiting.push(*std::exchange(r.open, nullptr));
    r.open = &frames_.take(r, {r.token, options_.rank, 0});
  }
  claimed_ = bytes;
  return r.open->data + r.open->bytes;
}

Tail* FabricLink::commit(Rank to, Next next) {
  Route& r = *routes_[to];
  if (r.dead) [[unlikely]]
    return &r.tail;  // the next claim has the same room
  Frame& frame = *r.open;
  frame.bytes += claimed_;
  if (next == Next::kSoon) {
    list(r);
    return &r.tail;
  }
  ++frame.commits;
  if (!gathers(r)) {
    start_here(r);
  } else {
    list(r);
  }
  if (next == Next::kSame && r.open == &frame && !frame.empty()) grow(r);
  return &r.tail;
}

// The packet that was committed last, which has not been sent, may become longer.
void FabricLink::grow(Route& r) noexcept {
  Frame& frame = *r.open;
  r.tail = {.packet = frame.data + frame.bytes - claimed_,
            .room = std::min(frame.room(), kMaxPacket - claimed_),
            .until = r.sent_ticks + kStreamTimes * gather_ticks_,
            .bytes = &frame.bytes,
            .commits = &frame.commits};
}

bool FabricLink::gathers(const Route& route) const noexcept { return polling_ || is_stream(route); }

bool FabricLink::is_stream(const Route& route) const noexcept {
  const bool streams = route.streams || (route.open != nullptr && route.open->commits > 1);
  return ticks() - route.sent_ticks < (streams ? kStreamTimes * gather_ticks_ : gather_ticks_);
}

Queue FabricLink::queue(Rank to, std::size_t written) {
  if (written != 0 && has_room(to, written) && routes_[to]->waiting.empty() &&
      (written > kGathered || !is_stream(*routes_[to]))) {
    return Queue::kTogether;
  }
  const Route* const r = routes_[to];
  if (r == nullptr) return polling_ ? Queue::kOpen : Queue::kEmpty;
  if (r->waiting.size() * frame_bytes_ >= kCongested) return Queue::kFull;
  return gathers(*r) ? Queue::kOpen : Queue::kEmpty;
}

void FabricLink::start(Route& r) { start_here(r); }

// Sends the frames that have waited.
void FabricLink::restart(Route& r) {
  while (!r.waiting.empty()) {
    Frame& frame = r.waiting.front();
    r.waiting.pop();
    if (try_start(frame)) {
      if (frame.empty()) frames_.give_back(frame);  // injected
      r.sent_ticks = ticks();
      continue;
    }
    r.waiting.push_front(frame);
    return list(r);
  }
}

// What waits to be sent.
void FabricLink::drop(Route& r) {
  r.tail.packet = nullptr;
  while (!r.waiting.empty()) {
    Frame& frame = r.waiting.front();
    r.waiting.pop();
    frames_.give_back(frame);
  }
  if (r.open != nullptr) frames_.give_back(*std::exchange(r.open, nullptr));
}

// What is in flight stays where it is until the network reports it, if it ever does.
void FabricLink::forget(Rank dead) {
  Route& r = routes_[dead] != nullptr ? *routes_[dead] : add_route(dead);
  if (std::exchange(r.dead, true)) return;
  drop(r);
  while (r.frames.in_flight != 0) frames_in_flight_.give_back(r.frames);
  incoming_.forget(dead);
  buries_ = true;
}

// Of the routes that are listed now; those that find no room are listed again.
bool FabricLink::flush() {
  const std::size_t count = unsent_.size();
  for (std::size_t i = 0; i < count; ++i) {
    unsent_[i]->listed = false;
    start(*unsent_[i]);
  }
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(count));
  return unsent_.empty();
}

}  // namespace am::link
