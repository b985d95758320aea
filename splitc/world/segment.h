#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

// What the library keeps at the start of every process's segment, all zero at first:
//
//   StoreLines         what has been stored here, on the default counter (splitc/access/store.h)
//   HeapEdge           how far down the local side of the heap reaches (a cache line)
//   Board[2]           what this process shows in collective calls (splitc/collective/round.h)
//   large board[2]     the same of more, and of the lowest rank of a node what the processes of
//                      other nodes have shown; large_board_bytes() each
//   staging            as much, for what collective calls of teams show their neighbours

namespace splitc {

// What one process of the node has stored at another, in the receiver's memory. Its writer is the
// sender alone, so counting costs a store and no atomic addition.
struct alignas(64) StoreLine {
  std::atomic<std::uint64_t> bytes;     // in all
  std::atomic<std::uint64_t> marks[2];  // bytes at the last all_store_sync with even, odd number
};
static_assert(sizeof(StoreLine) == 64, "a cache line, so that its writer disturbs no other");

// A counter of stores, in the memory of each receiver: a line for what has come from other nodes,
// which the receiver counts itself; a line for each process of the node, as many as the largest
// node has; and which of those have ever stored here, so that the others need not be looked at.
class StoreLines {
 public:
  StoreLines(std::byte* at, std::uint32_t near) noexcept
      : lines_(reinterpret_cast<StoreLine*>(at)), near_(near) {}

  static constexpr std::uint64_t bytes(std::uint32_t near) noexcept {
    return sizeof(StoreLine) * (1 + std::uint64_t{near} + (near + kBits - 1) / kBits);
  }
  // Of the line of the process that is number `index` of the node.
  static constexpr std::uint64_t offset_of(std::uint32_t index) noexcept {
    return sizeof(StoreLine) * (1 + std::uint64_t{index});
  }

  StoreLine& far() const noexcept { return lines_[0]; }
  StoreLine& of(std::uint32_t index) const noexcept { return lines_[1 + index]; }
  // Process `index` stores here from now on. False: it did before.
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

// Which collective call a process is in; compared byte by byte, as all must make the same.
struct BoardHeader {
  std::uint64_t round;  // rounds of this process so far, from 1
  std::uint64_t bytes;  // that each contributes
  std::uint64_t kind;   // what else must agree: root, type of element, length
  std::uint32_t step;   // of the rounds of one call, from 0
  char call[36];        // its name, padded with zeros
};
static_assert(sizeof(BoardHeader) == 64, "one cache line");

struct Board {
  static constexpr std::size_t kBytes = 16 * 1024 - sizeof(BoardHeader);

  BoardHeader header;
  std::byte data[kBytes];
};

// 256 KiB, or 32 bytes of each process, but little of a small segment.
constexpr std::size_t large_board_bytes(std::uint64_t segment_bytes, std::uint32_t procs) noexcept {
  constexpr std::size_t kUsual = 256 * 1024;
  const std::size_t lines = std::size_t{32} * procs;
  const std::size_t wanted = lines < kUsual ? kUsual : lines;
  const std::size_t most = segment_bytes / 64;
  return (wanted < most ? wanted : most) / 64 * 64;
}

}  // namespace splitc
