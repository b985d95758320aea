#pragma once

#include <cstddef>
#include <cstdint>

#include "examples/matmul/grid.h"
#include "splitc/splitc.h"

namespace matmul {

// The processes that share the pieces of an operand: a row of the grid for A, a column for B. Piece
// k belongs to place k mod size.
struct Ring {
  std::uint32_t size;
  std::uint32_t place;        // of this process
  std::uint32_t other_place;  // of this process in the ring of the other operand
  std::uint32_t first_proc;   // the process at place 0
  std::uint32_t distance;     // from the process at one place to that at the next

  std::uint32_t proc(std::uint32_t at) const noexcept { return first_proc + at % size * distance; }
  // Cannon's algorithm moves all pieces from each process to the one before it.
  std::uint32_t before() const noexcept { return proc(place + size - 1); }
  std::uint32_t after() const noexcept { return proc(place + 1); }
  // Who multiplies the pieces of this process first.
  std::uint32_t aligned() const noexcept { return proc(place + size - other_place % size); }
};
Ring ring_of_a(const Grid& grid);
Ring ring_of_b(const Grid& grid);

// A or B. Every process has the pieces that belong to it, which nobody changes, and two buffers for
// as many that pass by. All pieces take equally much memory, also where the matrix ends inside.
class Operand {
 public:
  // Collective. The largest piece has `rows` of `stride` numbers; `pieces` are those of a ring.
  Operand(const Ring& ring, std::uint32_t pieces, std::size_t rows, std::size_t stride)
      : ring_(ring),
        stride_(stride),
        piece_size_(rows * stride),
        share_(pieces / ring.size * piece_size_),
        numbers_(splitc::procs(), 3 * share_) {}

  const Ring& ring() const noexcept { return ring_; }
  std::size_t stride() const noexcept { return stride_; }  // from one row of a piece to the next
  std::size_t piece_size() const noexcept { return piece_size_; }  // numbers
  std::size_t share() const noexcept { return share_; }            // numbers that a process has

  // Piece k of this ring, where it belongs.
  splitc::global_ptr<double> piece(std::uint32_t k) const {
    return numbers_.on(ring_.proc(k)) + static_cast<std::ptrdiff_t>(place(k));
  }
  bool is_mine(std::uint32_t k) const noexcept { return k % ring_.size == ring_.place; }
  // Where it is, in the memory of any process that has it: that far behind what belongs to the
  // process, or behind the beginning of a buffer.
  std::size_t place(std::uint32_t k) const noexcept { return k / ring_.size * piece_size_; }

  double* own() const noexcept { return numbers_.mine().data(); }
  double* buffer(unsigned i) const noexcept { return own() + (1 + i) * share_; }
  splitc::global_ptr<double> buffer_of(std::uint32_t proc, unsigned i) const {
    return numbers_.on(proc) + static_cast<std::ptrdiff_t>((1 + i) * share_);
  }

 private:
  Ring ring_;
  std::size_t stride_, piece_size_, share_;
  splitc::spread_array<double> numbers_;  // of each process: its own, buffer 0, buffer 1
};

}  // namespace matmul
