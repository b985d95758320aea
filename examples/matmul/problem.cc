#include "examples/matmul/problem.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "examples/matmul3d/kernel.h"
#include "examples/random.h"

namespace matmul {
namespace {

using namespace splitc;

double small_integer(std::uint64_t x) noexcept {
  return static_cast<double>(examples::mix(x) % 17) - 8.0;
}

// A number of the vector with which C is checked: one of 2^16. What is wrong escapes at most one in
// as many of such vectors. (R. Freivalds, Probabilistic machines can use less running time, 1977.)
double number_of_vector(std::size_t j) noexcept {
  return static_cast<double>(examples::mix(~std::uint64_t{j}) % 65536);
}

}  // namespace

double number_of_a(std::size_t n, std::size_t i, std::size_t j) noexcept {
  return small_integer(i * n + j);
}
double number_of_b(std::size_t n, std::size_t i, std::size_t j) noexcept {
  return small_integer((n + i) * n + j);
}

Grid::Grid(std::size_t size) : n(size) {
  std::tie(height, width) = examples::square_grid();
  pieces = std::lcm(height, width);
}

Ring ring_of_a(const Grid& grid) {
  const std::uint32_t i = my_proc() / grid.width, j = my_proc() % grid.width;
  return {grid.width, j, i, i * grid.width, 1};
}
Ring ring_of_b(const Grid& grid) {
  const std::uint32_t i = my_proc() / grid.width, j = my_proc() % grid.width;
  return {grid.height, i, j, j, grid.width};
}

Problem::Problem(const Grid& whole)
    : grid_(whole),
      i_(my_proc() / whole.width),
      j_(my_proc() % whole.width),
      rows_(whole.rows(i_)),
      columns_(whole.columns(j_)),
      a_(ring_of_a(whole), whole.pieces, whole.max_rows(), whole.max_depth()),
      b_(ring_of_b(whole), whole.pieces, whole.max_depth(), whole.max_columns()),
      c_(rows_.size() * columns_.size()) {
  fill();
}

void Problem::fill() {
  for (std::uint32_t k = 0; k < grid_.pieces; ++k) {
    const Range depth = grid_.depth(k);
    for (std::size_t d = 0; d < depth.size(); ++d) {
      for (std::size_t i = 0; a_.is_mine(k) && i < rows_.size(); ++i) {
        a_.own()[a_.place(k) + i * a_.stride() + d] =
            number_of_a(grid_.n, rows_.begin + i, depth.begin + d);
      }
      for (std::size_t j = 0; b_.is_mine(k) && j < columns_.size(); ++j) {
        b_.own()[b_.place(k) + d * b_.stride() + j] =
            number_of_b(grid_.n, depth.begin + d, columns_.begin + j);
      }
    }
  }
}

void Problem::clear() {
  std::ranges::fill(c_, 0.0);
  waited_ = 0;
}

void Problem::multiply(std::uint32_t k, const double* a, const double* b) {
  constexpr std::size_t kRows = 16;  // between two polls
  const std::size_t depth = grid_.depth(k).size(), columns = columns_.size();
  for (std::size_t row = 0; row < rows_.size(); row += kRows) {
    matmul3d::add_product({a + row * a_.stride(), a_.stride()}, {b, b_.stride()},
                          std::min(kRows, rows_.size() - row), depth, columns,
                          c_.data() + row * columns);
    poll();
  }
}

std::uint64_t Problem::checksum() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    sum += examples::checksum(std::span(c_).subspan(row * columns_.size(), columns_.size()),
                              (rows_.begin + row) * grid_.n + columns_.begin);
  }
  return sum;
}

// C x = A (B x), with the columns and rows that this process has of C.
bool Problem::passes_check() const {
  std::vector<double> bx(grid_.n);
  for (std::size_t k = 0; k < grid_.n; ++k) {
    for (std::size_t j = columns_.begin; j < columns_.end; ++j) {
      bx[k] += number_of_b(grid_.n, k, j) * number_of_vector(j);
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    double right = 0, here = 0;
    for (std::size_t k = 0; k < grid_.n; ++k) {
      right += number_of_a(grid_.n, rows_.begin + i, k) * bx[k];
    }
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      here += c_[i * columns_.size() + j] * number_of_vector(columns_.begin + j);
    }
    if (here != right) return false;
  }
  return true;
}

std::uint64_t serial_checksum(std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double c = 0;
      for (std::size_t k = 0; k < n; ++k) c += number_of_a(n, i, k) * number_of_b(n, k, j);
      sum += examples::mark(i * n + j, c);
    }
  }
  return sum;
}

}  // namespace matmul
