#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "am/channel/channel.h"
#include "am/channel/phase.h"
#include "am/link/link.h"
#include "am/types/function.h"
#include "shmem/arrivals.h"

// What a ReceiveChannel and a SendChannel own. Lives where it is made: others point to it.

namespace am {

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
  // pairs with: ChannelReceivers::say()
  return shmem::Arrival::of(word.load(std::memory_order_acquire));
}
// The channel of that generation has been closed.
inline bool is_stale(const shmem::Arrival& state, std::uint16_t generation) noexcept {
  return state.number == static_cast<std::uint16_t>(State::kClosed) ||
         state.generation != generation;
}

struct ReceiveEnd {
  ChannelHandle handle;
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

// In a trace: puts of senders on other nodes have numbers of their own.
constexpr std::uint64_t number_by_network(std::uint64_t put) noexcept {
  return put | std::uint64_t{1} << 63;
}

// "channel N of rank R (B bytes at O)", for sentences.
std::string describe(const ChannelHandle& handle);

}  // namespace detail
}  // namespace am
