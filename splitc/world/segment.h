#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "am/route/router.h"
#include "splitc/world/place.h"

// What the library keeps at the start of every process's segment, all zero at first:
//
//   StoreLines         what has been stored here, on the default counter (splitc/access/store.h)
//   HeapEdge           how far down the local side of the heap reaches (a cache line)
//   staging            copies of what those of this node are to read in collective calls
//   NodeBoard[]        what this process publishes in those of its groups (splitc/group), one each

namespace splitc {

// What one thread of a process of the node has stored at another process, in the receiver's memory.
// Its writer is that thread alone, so counting costs a store and no atomic addition.
struct alignas(64) StoreLine {
  std::atomic<std::uint64_t> bytes;     // in all
  std::atomic<std::uint64_t> marks[2];  // bytes at the last all_store_sync with even, odd number
};
static_assert(sizeof(StoreLine) == 64, "a cache line, so that its writer disturbs no other");

// A counter of stores, in the memory of each receiver: a line for what has come from other nodes,
// which the receiver counts itself; a line for each thread of each process of the node, as many as
// the largest node has (`near`); and which of those have ever stored here, so that the others need
// not be looked at.
class StoreLines {
 public:
  StoreLines(std::byte* at, std::uint32_t near) noexcept
      : lines_(reinterpret_cast<StoreLine*>(at)), near_(near) {}

  static constexpr std::uint64_t bytes(std::uint32_t near) noexcept {
    return sizeof(StoreLine) * (1 + std::uint64_t{near} + (near + kBits - 1) / kBits);
  }
  // Of line number `index`.
  static constexpr std::uint64_t offset_of(std::uint32_t index) noexcept {
    return sizeof(StoreLine) * (1 + std::uint64_t{index});
  }

  StoreLine& far() const noexcept { return lines_[0]; }
  StoreLine& of(std::uint32_t index) const noexcept { return lines_[1 + index]; }
  // Whoever has line `index` stores here from now on. False: it did before.
  bool add(std::uint32_t index) const noexcept {
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    return (active()[index / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  // Calls look(line) for each that stores here.
  template <class Look>
  void for_each_near(Look&& look) const {
    for (std::uint32_t word = 0; word * 64 < near_; ++word) {
      std::uint64_t bits = active()[word].load(std::memory_order_relaxed);
      for (; bits != 0; bits &= bits - 1) look(of(word * 64 + std::countr_zero(bits)));
    }
  }

 private:
  static constexpr std::uint32_t kBits = 8 * sizeof(StoreLine);

  std::atomic<std::uint64_t>* active() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(lines_ + 1 + near_);
  }

  StoreLine* lines_;
  std::uint32_t near_;
};

// Where the local side of a process's heap ends, in its segment (splitc/world/heap.h).
using HeapEdge = std::atomic<std::uint64_t>;

// What a member of a group of processes publishes in its collective calls for those of its node,
// on a line for every item of a call. Its writer is the member alone, but for `arrived`.
struct alignas(64) NodeBoard {
  static constexpr std::uint32_t kItems = 5;   // of a call
  static constexpr std::uint32_t kCalls = 72;  // so many calls until a line is used again
  static constexpr std::size_t kHalf = 24 * 1024;
  static constexpr std::size_t kFew = 40;

  // Never 0.
  static constexpr std::uint64_t number(std::uint32_t call, std::uint32_t item) noexcept {
    return std::uint64_t{call} * 8 + item + 1;
  }
  // What `read` is when an item has been read but for so many parts, fewer than 2^20.
  static constexpr std::uint64_t have_read(std::uint32_t call, std::uint32_t item,
                                           std::uint64_t parts_left = 0) noexcept {
    return (number(call, item) << 20) - parts_left;
  }

  struct alignas(64) Item {
    // Of the last three an Offer is here. A member waits until its memory has been read.
    enum class Bytes : std::uint32_t { kHere, kCopied, kStaged, kStreamed, kMemory };

    std::atomic<std::uint64_t> number;  // when the rest is here
    std::uint32_t digest;               // as in a MailHead
    std::uint32_t spoiler;              // as in a MailHead
    Bytes bytes;                        // where they are
    std::atomic<std::uint32_t> at;      // ... if they are copied; streamed: how many parts are here
    std::byte few[kFew];
  };
  struct CallLines {
    alignas(64) std::atomic<std::uint64_t> read;  // have_read() of the latest item
    // At the first member of the node, if there are more processes than cores: how many have
    // published an item, below its number.
    alignas(64) std::atomic<std::uint64_t> arrived[kItems];
  };
  // What `arrived` is when so many have, at most 2^20: more than for any call before.
  static constexpr std::uint64_t arrivals(std::uint32_t call, std::uint32_t item,
                                          std::uint32_t count) noexcept {
    return (number(call, item) << 20) + count;
  }

  Item& item(std::uint32_t call, std::uint32_t number) noexcept {
    return items[number][call % kCalls];
  }
  CallLines& of(std::uint32_t call) noexcept { return calls[call % kCalls]; }

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint32_t kTheLast = kNobody - 1;  // of all publishers

  std::atomic<std::uint64_t> generation;  // odd: in use
  // The rank that is to publish, or to read, what this member waits for; likewise.
  alignas(64) std::atomic<std::uint32_t> waits_for;
  // Those of one number side by side: of the calls to come the processor fetches them ahead
  // (all_reduce_to_one of 8 bytes, 2 processes: 0.10 us, and 0.13 with those of a call together).
  Item items[kItems][kCalls];
  CallLines calls[kCalls];
  alignas(64) std::byte copied[2 * kHalf];  // of what is neither few nor much
};
static_assert(sizeof(NodeBoard::Item) == 64, "one cache line");

// 2 MiB, and less of a small segment. More than a core's second-level cache has, so that a copy
// goes to memory that no such cache holds any more: what another core has read last it would have
// to give up first. (A broadcast of 1 MiB to one reader, on AMD: 31 us, and 115 with 256 KiB.)
constexpr std::size_t staging_bytes(std::uint64_t segment_bytes) noexcept {
  constexpr std::size_t kUsual = std::size_t{2} << 20;
  const std::size_t most = segment_bytes / 64;
  return (kUsual < most ? kUsual : most) / 64 * 64;
}

// At most 10; fewer, or none, of a small segment, and then those of a node send messages.
constexpr std::uint32_t node_boards(std::uint64_t segment_bytes) noexcept {
  constexpr std::uint64_t kMost = 10;
  const std::uint64_t count = segment_bytes / 24 / sizeof(NodeBoard);
  return static_cast<std::uint32_t>(count < kMost ? count : kMost);
}

namespace detail {

// Wakes the process of this node whose segment is mapped at `segment` here, if it sleeps: to be
// called behind a write that it may wait for. Any thread, handlers too. Costs a load, and a fence
// where place.kernel_fence is false.
inline void wake_owner(std::byte* segment) noexcept {
  am::RegionHeader::of(segment).bell.notify(shmem::Fence(place.kernel_fence));
}

}  // namespace detail
}  // namespace splitc
