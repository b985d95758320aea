#pragma once

#include <cstddef>
#include <map>
#include <span>

namespace am::zero_copy {

// Which parts of a range of memory are in use. First fit; neighbours that are free join.
// Thread rule: one at a time.
class Pool {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit Pool(std::span<std::byte> memory);

  // kAlignment-aligned, at least one line long. Empty if there is no such room.
  std::span<std::byte> allocate(std::size_t bytes);
  // False: no block begins there.
  bool release(const std::byte* block);
  // Whether all of `range` is in one block.
  bool holds(std::span<const std::byte> range) const;
  // The block that begins there; empty: none.
  std::span<std::byte> block_at(const std::byte* begin) const;
  std::span<std::byte> memory() const noexcept { return memory_; }
  std::size_t used() const noexcept { return used_; }  // bytes

 private:
  std::span<std::byte> memory_;
  std::map<std::size_t, std::size_t> free_;    // offset: bytes
  std::map<std::size_t, std::size_t> blocks_;  // likewise
  std::size_t used_ = 0;
};

}  // namespace am::zero_copy
