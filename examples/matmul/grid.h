#pragma once

#include <cstddef>
#include <cstdint>

#include "examples/application.h"

namespace matmul {

using examples::Range;

// The processes as a grid, and how it cuts matrices of n x n numbers.
//
// Process (i, j) computes block (i, j) of C: its rows i and columns j. The dimension that is summed
// over, the depth, is cut into pieces, as many as the least common multiple of the grid's sides, so
// that both deal them out evenly. In a square grid of q x q these are the q blocks of a row of A,
// or of a column of B, one for each process; in one of 3 x 2 each has 3 of 6 pieces of its rows of
// A, and 2 of 6 of its columns of B.
struct Grid {
  std::size_t n;
  std::uint32_t height, width;  // rows and columns of processes
  std::uint32_t pieces;

  // The most square grid of all processes.
  explicit Grid(std::size_t n);

  Range rows(std::uint32_t i) const noexcept { return examples::part(n, height, i); }
  Range columns(std::uint32_t j) const noexcept { return examples::part(n, width, j); }
  Range depth(std::uint32_t k) const noexcept { return examples::part(n, pieces, k); }

  // Of the largest part.
  std::size_t max_rows() const noexcept { return (n + height - 1) / height; }
  std::size_t max_columns() const noexcept { return (n + width - 1) / width; }
  std::size_t max_depth() const noexcept { return (n + pieces - 1) / pieces; }
};

}  // namespace matmul
