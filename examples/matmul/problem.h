#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/matmul/grid.h"
#include "examples/matmul/operand.h"
#include "splitc/splitc.h"

namespace matmul {

// The numbers of A and B in row i and column j: integers from -8 to 8. All sums of their products
// are integers that a double holds exactly, so they have the same bits in whatever order they are
// added up, and every version has to give the same product.
double number_of_a(std::size_t n, std::size_t i, std::size_t j) noexcept;
double number_of_b(std::size_t n, std::size_t i, std::size_t j) noexcept;

// One process's part of C = A B.
class Problem {
 public:
  explicit Problem(const Grid& whole);  // collective, and so is its end

  const Grid& grid() const noexcept { return grid_; }
  const Operand& a() const noexcept { return a_; }
  const Operand& b() const noexcept { return b_; }

  // The piece of the depth that this process multiplies in step 0 to pieces - 1. In one step all
  // processes of a row, or of a column, multiply different pieces: nobody is asked by all at once.
  std::uint32_t piece(std::uint32_t step) const noexcept { return (i_ + j_ + step) % grid_.pieces; }
  // C = 0.
  void clear();
  // C += piece k of A times piece k of B, which lie there. Polls now and then, so that the requests
  // of others are served meanwhile.
  void multiply(std::uint32_t k, const double* a, const double* b);

  // Calls f(), which communicates, and counts the time that it takes.
  template <class F>
  void communicate(F&& f) {
    const double start = splitc::get_seconds();
    f();
    waited_ += splitc::get_seconds() - start;
  }
  double waited() const noexcept { return waited_; }  // seconds, since clear()

  // Of this process's block of C: its share of the checksum of the whole; and whether it passes
  // Freivalds' check, whose cost is that of multiplying matrices with a vector.
  std::uint64_t checksum() const noexcept;
  bool passes_check() const;

 private:
  void fill();

  Grid grid_;
  std::uint32_t i_, j_;  // of this process
  Range rows_, columns_;
  Operand a_, b_;
  std::vector<double> c_;
  double waited_ = 0;
};

// The checksum of C, computed by this process alone with three plain loops.
std::uint64_t serial_checksum(std::size_t n);

}  // namespace matmul
