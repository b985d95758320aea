#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace am {

// Which blocks of some memory are in use, in bytes from where it begins; whether that has room for
// them, the caller checks. Blocks begin at multiples of 64; freed neighbours become one.
//
// Pure logic. Thread rule: one thread at a time.
class HeapSide {
 public:
  static constexpr std::uint64_t kAlign = 64;

  struct Block {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;  // as asked for; it occupies the next multiple of 64, at least 64
  };

  // Where a block of `bytes` would go: the lowest hole that holds it, else the end.
  std::uint64_t find(std::uint64_t bytes) const;
  void take(Block block);          // where find() said
  void release(std::uint64_t at);  // a block begins there

  // The block that occupies `at`.
  std::optional<Block> block_of(std::uint64_t at) const;

  std::uint64_t end() const noexcept { return end_; }
  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t largest_hole() const;

  static std::uint64_t occupied(std::uint64_t bytes) noexcept;

 private:
  using Extents = std::map<std::uint64_t, std::uint64_t>;  // bytes, by where they begin

  void add_hole(std::uint64_t at, std::uint64_t bytes);

  Extents blocks_;
  Extents holes_;           // none touches another, or the end
  std::uint64_t end_ = 0;   // of the last block
  std::uint64_t used_ = 0;  // occupied by blocks
};

}  // namespace am
