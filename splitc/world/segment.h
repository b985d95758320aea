#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// What the library keeps at the start of every process's segment, all zero at first:
//
//   StoreLine[procs]   what each process has stored here, on the default counter
//                      (splitc/access/store.h)
//   Heap::Edge         how far down the local side of the heap reaches (a cache line)
//   Board[2]           what this process shows in collective calls (splitc/collective/round.h)
//   gathered[2]        of the lowest rank of a node, in a job of several: what the processes of
//                      other nodes have shown; gathered_bytes() each

namespace splitc {

// What one process has stored at another, in the receiver's memory. On a node its writer is the
// sender alone, so counting costs a store and no atomic addition; what comes from another node the
// receiver counts itself.
struct alignas(64) StoreLine {
  std::atomic<std::uint64_t> bytes;     // in all
  std::atomic<std::uint64_t> marks[2];  // bytes at the last all_store_sync with even, odd number
};
static_assert(sizeof(StoreLine) == 64, "a cache line, so that its writer disturbs no other");

// Which collective call a process is in; compared byte by byte, as all must make the same.
struct BoardHeader {
  std::uint64_t round;  // rounds of this process so far, from 1
  std::uint64_t bytes;  // that each contributes
  std::uint64_t kind;   // what else must agree: root, type of element, length
  char call[40];        // its name, padded with zeros
};
static_assert(sizeof(BoardHeader) == 64, "one cache line");

struct Board {
  static constexpr std::size_t kBytes = 16 * 1024 - sizeof(BoardHeader);

  BoardHeader header;
  std::byte data[kBytes];
};

// At least 32 bytes of each process.
constexpr std::size_t gathered_bytes(std::uint32_t procs) noexcept {
  constexpr std::size_t kLeast = 64 * 1024;
  const std::size_t bytes = (std::size_t{32} * procs + 63) / 64 * 64;
  return bytes < kLeast ? kLeast : bytes;
}

}  // namespace splitc
