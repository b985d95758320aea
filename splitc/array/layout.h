#pragma once

#include <cstddef>
#include <cstdint>

// Which process owns which element: arithmetic only, with integers and by any thread. The layouts
// are those of Split-C's spread declarations.
//
//   cyclic            element i on process i mod P                     T A[n]::
//   blocked           one block for each process, block p on p         T A[P]::[b]
//   block_cyclic(b)   blocks of b elements, block k on k mod P         T A[n]::[b]
//
// All three are block-cyclic, with blocks of 1, ceil(n / P) and b elements. So `blocked` fills the
// processes in order, and the last ones may have fewer elements, or none. Elements of one process
// are contiguous in its memory, in the order of their indices. spread_array.h
// draws them.

namespace splitc {

namespace detail {
constexpr std::size_t lesser(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }
}  // namespace detail

// How to lay out an index range, before its length is known: what the constructors of spread arrays
// take. Use `cyclic`, `blocked` and block_cyclic(b) below.
class layout {
 public:
  // Blocks of `block` elements, where 0 means 1; and one block for each process.
  static constexpr layout in_blocks_of(std::size_t block) noexcept { return layout(block); }
  static constexpr layout one_block_each() noexcept { return layout(kBlocked); }

  // Elements in a block when `n` are laid out over `parts` processes; at least 1.
  constexpr std::size_t block(std::size_t n, std::size_t parts) const noexcept {
    const std::size_t block = is_blocked() ? parts_of(n, parts) : block_;
    return block == 0 ? 1 : block;
  }
  // Whether it is one block for each process, so that the block depends on the length.
  constexpr bool is_blocked() const noexcept { return block_ == kBlocked; }

  // n / part, rounded up.
  static constexpr std::size_t parts_of(std::size_t n, std::size_t part) noexcept {
    return n / part + (n % part != 0 ? 1 : 0);
  }

 private:
  static constexpr std::size_t kBlocked = ~std::size_t{0};

  explicit constexpr layout(std::size_t block) noexcept : block_(block) {}

  std::size_t block_;
};

inline constexpr layout cyclic = layout::in_blocks_of(1);
inline constexpr layout blocked = layout::one_block_each();
// `b` of 0 means 1.
constexpr layout block_cyclic(std::size_t b) noexcept { return layout::in_blocks_of(b); }

// Elements with consecutive indices that lie one behind the other in the memory of one process.
struct element_run {
  std::size_t first = 0;   // index of the first of them
  std::size_t length = 0;  // how many there are
  std::uint32_t proc = 0;  // whose memory it is
  std::size_t local = 0;   // position of the first one there
};

// `n` indices in blocks of `block`, assigned to `procs` processes in turn (round robin). `block`
// and `procs` are at least 1. Every function takes a few integer divisions.
class distribution {
 public:
  // A distribution of no indices.
  constexpr distribution() noexcept : distribution(0, 1, 1) {}
  constexpr distribution(std::size_t n, std::size_t block, std::uint32_t procs) noexcept
      : n_(n), block_(block), procs_(procs) {}

  // The numbers that were given to the constructor.
  constexpr std::size_t size() const noexcept { return n_; }
  constexpr std::size_t block() const noexcept { return block_; }
  constexpr std::uint32_t procs() const noexcept { return procs_; }

  // Where index i < size() is: the process that owns it, and its position, from 0, among the
  // elements of that process.
  constexpr std::uint32_t owner(std::size_t i) const noexcept {
    return static_cast<std::uint32_t>(i / block_ % procs_);
  }
  constexpr std::size_t local(std::size_t i) const noexcept {
    return i / block_ / procs_ * block_ + i % block_;
  }
  // The inverse: the index of the element at position `l` of `proc`.
  constexpr std::size_t global(std::uint32_t proc, std::size_t l) const noexcept {
    return (l / block_ * procs_ + proc) * block_ + l % block_;
  }
  // The block that index i < size() is in.
  constexpr element_run run(std::size_t i) const noexcept {
    const std::size_t number = i / block_;
    const std::size_t first = number * block_;
    return {first, detail::lesser(block_, n_ - first), static_cast<std::uint32_t>(number % procs_),
            number / procs_ * block_};
  }
  // How many indices `proc` owns.
  constexpr std::size_t size_on(std::uint32_t proc) const noexcept {
    const std::size_t whole = n_ / block_;  // blocks
    const std::size_t blocks = whole / procs_ + (proc < whole % procs_ ? 1 : 0);
    const std::size_t rest = proc == whole % procs_ ? n_ % block_ : 0;
    return blocks * block_ + rest;
  }
  // How many of those below i it owns: the position of its first one from i on. i is at most
  // size().
  constexpr std::size_t size_below(std::uint32_t proc, std::size_t i) const noexcept {
    return distribution(i, block_, procs_).size_on(proc);
  }
  // The most that any process owns, in whole blocks; ~0 if no std::size_t holds it.
  constexpr std::size_t capacity() const noexcept {
    const std::size_t blocks = layout::parts_of(layout::parts_of(n_, block_), procs_);
    std::size_t elements = 0;
    return __builtin_mul_overflow(blocks, block_, &elements) ? ~std::size_t{0} : elements;
  }

  // Whether both give every index the same owner and position.
  friend constexpr bool operator==(const distribution&, const distribution&) noexcept = default;

 private:
  std::size_t n_;
  std::size_t block_;
  std::uint32_t procs_;
};

}  // namespace splitc
