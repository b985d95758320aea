#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "am/channel/channel.h"
#include "am/link/link.h"
#include "am/types/function.h"
#include "shmem/arrivals.h"

// What a ReceiveChannel and a SendChannel own. Lives where it is made: others point to it.

namespace am {

// What the receiver's end of a channel makes of puts and of ready(): pure logic.
//
//   armed      a put is reported by the callback        (from the beginning, and after ready_poll)
//   delivered  the callback has been called, the buffer is in use
//   marked     the buffer is free, a put is remembered  (after ready_mark)
//
// No put is lost as long as one is in flight at a time. One that comes too early, while the buffer
// is in use, has damaged its contents; it is reported once the channel is armed again. If several
// come before one can be reported, only one is.
class ChannelPhase {
 public:
  // What is to be done, and what was wrong about it.
  enum class Next : std::uint8_t { kCall, kRemember };
  enum class Wrong : std::uint8_t { kNothing, kEarly, kLost, kReadyTwice, kNotMarked };
  struct Step {
    Next next;
    Wrong wrong;
  };

  // `puts` have come since the last time, at least one. kCall: call back, after called().
  Step arrive(std::uint32_t puts) noexcept {
    const bool several = puts > 1 || waiting_;
    const bool early = phase_ == Phase::kDelivered;
    const bool call = phase_ == Phase::kArmed;
    waiting_ = true;
    return {call ? Next::kCall : Next::kRemember, several ? Wrong::kLost
                                                  : early ? Wrong::kEarly
                                                          : Wrong::kNothing};
  }
  void called() noexcept {
    phase_ = Phase::kDelivered;
    waiting_ = false;
    used_ = true;
  }

  // Without effect where it is wrong. Before the first put the channel is armed anyway.
  Wrong mark() noexcept {
    if (phase_ != Phase::kDelivered) return used_ ? Wrong::kReadyTwice : Wrong::kNothing;
    phase_ = Phase::kMarked;
    return Wrong::kNothing;
  }
  // kCall: a put that came before is to be reported now.
  Step poll() noexcept {
    if (phase_ == Phase::kDelivered) return {Next::kRemember, Wrong::kNotMarked};
    if (phase_ == Phase::kArmed) {
      return {Next::kRemember, used_ ? Wrong::kReadyTwice : Wrong::kNothing};
    }
    phase_ = Phase::kArmed;
    return {waiting_ ? Next::kCall : Next::kRemember, Wrong::kNothing};
  }

  bool in_use() const noexcept { return phase_ == Phase::kDelivered; }
  // A put may come, and finds nothing that it would overwrite.
  bool free() const noexcept { return !in_use() && !waiting_; }
  // A put that has come is to be reported now.
  bool due() const noexcept { return phase_ == Phase::kArmed && waiting_; }

 private:
  enum class Phase : std::uint8_t { kArmed, kDelivered, kMarked };

  Phase phase_ = Phase::kArmed;
  bool waiting_ = false;  // a put has come that has not been reported
  bool used_ = false;     // one has been reported
};

class ChannelReceivers;

namespace detail {

// What the receiver says of a number on the board, in the place of an Arrival's number, beside the
// generation it has or had last and the puts seen.
enum class State : std::uint16_t {
  kClosed,  // there is no such channel
  kBusy,    // a put has come, and ready() has not been called for it
  kFree,    // a put may come
};

// What the receiver's `word` on the board says of a channel: its State, in the place of a number.
inline shmem::Arrival state_of(const std::atomic<std::uint64_t>& word) noexcept {
  // pairs with: ChannelNumbers::say()
  return shmem::Arrival::of(word.load(std::memory_order_acquire));
}
// The channel of that generation has been closed.
inline bool is_stale(const shmem::Arrival& state, std::uint16_t generation) noexcept {
  return state.number == static_cast<std::uint16_t>(State::kClosed) ||
         state.generation != generation;
}

struct ReceiveEnd {
  ChannelHandle handle;
  ChannelReceivers* owner = nullptr;  // of its bundle
  std::byte* first = nullptr;
  Function<void()> callback;
  ChannelPhase phase;
  std::uint32_t arrived = 0;  // puts seen, in the count of the sender, if that is on this node
  std::uint64_t pieces = 0;   // bytes that have come of a put in pieces
  std::uint64_t callbacks = 0;
  std::uint64_t network_puts = 0;     // of senders on other nodes
  std::uint64_t last_by_network = 0;  // the one whose callback is to run; 0: it is of this node
  std::vector<SendChannel> relays;    // which pass on what comes (am/channel/multicast.h)
};

struct SendEnd {
  struct Source {
    const std::byte* first = nullptr;
    Strided shape;
    bool in_one_piece = false;  // some bytes, and so is the receiver's buffer
    bool in_long_rows = false;  // each of which is worth a write
  };

  const Source& source_of(std::uint64_t put) const noexcept {
    return sources[(put - first_put) & (source_count - 1)];
  }
  bool near() const noexcept { return target != nullptr; }
  // No put to another node reads its source any more.
  bool all_left() const noexcept { return started == puts && under_way == 0; }

  ChannelHandle handle;
  Source sources[2];
  std::uint32_t source_count = 0;  // at most 2
  std::uint64_t puts = 0;
  std::uint64_t first_put = 0;  // that sends sources[0], as these are now
  std::size_t bytes = 0;        // of each
  // To a receiver on this node.
  std::byte* target = nullptr;                        // its buffer
  const std::atomic<std::uint64_t>* state = nullptr;  // what it says of the channel
  shmem::ArrivalSeat seat;
  std::uint32_t announced =
      0;  // puts announced so far, those of the channel's earlier senders included
  // To one on another.
  std::uint64_t started = 0;    // puts handed to the network
  std::uint64_t under_way = 0;  // writes of these that still read their source
  std::uint64_t sent = 0;       // bytes already sent of a put that goes in fragments or rows
  bool waiting = false;         // with puts that have not started
  std::size_t place = 0;        // in ChannelSenders
};

// How this process names a channel of its own: what ArrivalWords gives for the completion data of a
// put, and what packets carry. Of a handle, or of a neighbour's shmem::Arrival.
template <class Numbered>
constexpr std::uint32_t arrival_of(const Numbered& channel) noexcept {
  return std::uint32_t{channel.number} << 16 | channel.generation;
}

constexpr std::uint16_t number_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival >> 16);
}
constexpr std::uint16_t generation_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival);
}

// In a trace: puts of senders on other nodes have numbers of their own.
constexpr std::uint64_t number_by_network(std::uint64_t put) noexcept {
  return put | std::uint64_t{1} << 63;
}

// "channel N of rank R (B bytes at O)", for sentences.
std::string describe(const ChannelHandle& handle);

}  // namespace detail

}  // namespace am
