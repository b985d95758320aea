#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace splitc {

// Hands out the segment of this process behind the runtime's memory. One heap, two ends: spread
// blocks grow up from the bottom and have the same offset in every process, local blocks grow down
// from the top and are of this process alone. Its books are kept outside the segment, so that no
// stray write of a program can harm them.
//
// Thread rule: the world's thread.
class Heap {
 public:
  // Of [first, first + bytes) of the segment.
  Heap(std::uint64_t first, std::uint64_t bytes);

  // Collective: the same number of bytes at the same offset everywhere, zeroed, 64-byte aligned.
  // Throws Error in every process if one lacks the memory (saying total, used, asked and the largest
  // free block, and SPLITC_SEGMENT), or if they do not all ask for the same.
  std::uint64_t all_allocate(std::uint64_t bytes, const char* call);
  // Collective. Throws Error if `offset` is not a live spread block.
  void all_free(std::uint64_t offset, const char* call);

  // Of this process alone, 64-byte aligned. Throws Error if it lacks the memory.
  std::uint64_t allocate(std::uint64_t bytes, const char* call);
  void free(std::uint64_t offset, const char* call);

  // Whether [offset, offset + bytes) lies in one live block. Of another process only spread blocks
  // are known: for local ones of others `mine` is false and true is the answer.
  bool live(std::uint64_t offset, std::uint64_t bytes, bool mine) const noexcept;
};

}  // namespace splitc
