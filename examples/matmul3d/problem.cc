#include "examples/matmul3d/problem.h"

#include <algorithm>
#include <functional>

#include "examples/matmul3d/kernel.h"

namespace matmul3d {
namespace {

using namespace splitc;
using examples::fraction;
using examples::mark;
using examples::part;

// The first numbers of A and B, in row i and column j.
double first_of_a(std::size_t n, std::size_t i, std::size_t j) { return fraction(i * n + j); }
double first_of_b(std::size_t n, std::size_t i, std::size_t j) { return fraction((n + i) * n + j); }

}  // namespace

Grid Decomposition::place(std::uint32_t proc) const noexcept {
  return {proc / (grid[1] * grid[2]), proc / grid[2] % grid[1], proc % grid[2]};
}
std::uint32_t Decomposition::proc(const Grid& at) const noexcept {
  return (at[0] * grid[1] + at[1]) * grid[2] + at[2];
}

Problem::Problem(const Decomposition& whole)
    : whole_(whole),
      at_(whole.place(my_proc())),
      rows_(whole.rows(at_)),
      columns_(whole.columns(at_)),
      depth_(whole.depth(at_)),
      a_columns_(part(depth_.size(), whole.grid[1], at_[1])),
      b_rows_(part(depth_.size(), whole.grid[0], at_[0])),
      sum_rows_(part(rows_.size(), whole.grid[2], at_[2])),
      sum_(sum_rows_.size() * columns_.size()) {
  find_sizes();
  numbers_ = spread_array<double>(procs(), size());
  for (const unsigned turn : {0, 1}) {
    product_[turn].resize(rows_.size() * columns_.size());
    find_inputs(turn);
    find_products(turn);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t j = a_columns_.begin; j < a_columns_.end; ++j) {
      a_piece_.push_back(first_of_a(whole_.n, rows_.begin + i, depth_.begin + j));
    }
  }
  for (std::size_t i = b_rows_.begin; i < b_rows_.end; ++i) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      b_piece_.push_back(first_of_b(whole_.n, depth_.begin + i, columns_.begin + j));
    }
  }
}

// The same for all processes, so that each knows the places of the others.
void Problem::find_sizes() {
  std::size_t summand_rows = 0;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const Grid at = whole_.place(proc);
    const std::size_t rows = whole_.rows(at).size();
    const std::size_t columns = whole_.columns(at).size();
    const std::size_t depth = whole_.depth(at).size();
    b_place_ = std::max(b_place_, rows * depth);
    summands_place_ = std::max(summands_place_, depth * columns);
    summand_rows = rows / whole_.grid[2] + 1;
    summand_size_ = std::max(summand_size_, summand_rows * columns);
  }
  summands_place_ += b_place_;
  turn_size_ = summands_place_ + whole_.grid[2] * summand_size_;
}

Piece Problem::piece_of_a(unsigned turn, std::uint32_t peer, const Range& columns) const noexcept {
  const std::size_t first = turn * turn_size_;
  const std::size_t place = first + columns.begin;
  return {
      peer,         numbers().data() + place, place,        first + columns.begin * rows_.size(),
      rows_.size(), columns.size(),           depth_.size()};
}
Piece Problem::piece_of_b(unsigned turn, std::uint32_t peer, const Range& rows) const noexcept {
  const std::size_t place = turn * turn_size_ + b_place_ + rows.begin * columns_.size();
  return {peer,        numbers().data() + place, place,          place,
          rows.size(), columns_.size(),          columns_.size()};
}
Piece Problem::piece_of_sum(unsigned turn, std::uint32_t peer, const Range& rows,
                            std::size_t z) const noexcept {
  const std::size_t place = turn * turn_size_ + summands_place_ + z * summand_size_;
  return {peer,           product_[turn].data() + rows.begin * columns_.size(),
          place,          place,
          rows.size(),    columns_.size(),
          columns_.size()};
}

void Problem::find_inputs(unsigned turn) {
  for (std::uint32_t y = 0; y < whole_.grid[1]; ++y) {
    if (y == at_[1]) continue;
    const std::uint32_t peer = whole_.proc({at_[0], y, at_[2]});
    outgoing_[turn][0].push_back(piece_of_a(turn, peer, a_columns_));
    const Range theirs = part(depth_.size(), whole_.grid[1], y);
    incoming_[turn][0].push_back(piece_of_a(turn, peer, theirs));
  }
  for (std::uint32_t x = 0; x < whole_.grid[0]; ++x) {
    if (x == at_[0]) continue;
    const std::uint32_t peer = whole_.proc({x, at_[1], at_[2]});
    outgoing_[turn][0].push_back(piece_of_b(turn, peer, b_rows_));
    const Range theirs = part(depth_.size(), whole_.grid[0], x);
    incoming_[turn][0].push_back(piece_of_b(turn, peer, theirs));
  }
}

void Problem::find_products(unsigned turn) {
  for (std::uint32_t z = 0; z < whole_.grid[2]; ++z) {
    if (z == at_[2]) continue;
    const std::uint32_t peer = whole_.proc({at_[0], at_[1], z});
    const Range theirs = part(rows_.size(), whole_.grid[2], z);
    outgoing_[turn][1].push_back(piece_of_sum(turn, peer, theirs, at_[2]));
    incoming_[turn][1].push_back(piece_of_sum(turn, peer, sum_rows_, z));
  }
}

void Problem::prepare(unsigned turn) {
  const double* from = a_piece_.data();
  for (std::size_t i = 0; i < rows_.size(); ++i, from += a_columns_.size()) {
    std::copy_n(from, a_columns_.size(), a(turn) + i * depth_.size() + a_columns_.begin);
  }
  std::ranges::copy(b_piece_, b(turn) + b_rows_.begin * columns_.size());
  std::ranges::transform(a_piece_, a_piece_.begin(), next);
  std::ranges::transform(b_piece_, b_piece_.begin(), next);
}

void Problem::multiply(unsigned turn) {
  matmul3d::multiply({a(turn), depth_.size()}, {b(turn), columns_.size()}, rows_.size(),
                     depth_.size(), columns_.size(), product_[turn].data());
}

// In the order of z.
void Problem::add(unsigned turn) {
  std::copy_n(product_[turn].data() + sum_rows_.begin * columns_.size(), sum_.size(),
              summand(turn, at_[2]));
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    double number = summand(turn, 0)[i];
    for (std::size_t z = 1; z < whole_.grid[2]; ++z) number += summand(turn, z)[i];
    sum_[i] += number;
  }
}

std::uint64_t Problem::checksum() const {
  std::uint64_t marks = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    const std::size_t row = rows_.begin + sum_rows_.begin + i / columns_.size();
    marks += mark(row * whole_.n + columns_.begin + i % columns_.size(), sum_[i]);
  }
  return marks;
}

std::uint64_t serial_checksum(const Decomposition& whole, std::uint32_t iterations) {
  const std::size_t n = whole.n;
  std::vector<double> a(n * n), b(n * n), sum(n * n), product(n * n), summand(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = first_of_a(n, i / n, i % n);
    b[i] = first_of_b(n, i / n, i % n);
  }
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint32_t z = 0; z < whole.grid[2]; ++z) {
      const Range depth = whole.depth({0, 0, z});
      multiply({a.data() + depth.begin, n}, {b.data() + depth.begin * n, n}, n, depth.size(), n,
               summand.data());
      if (z == 0) {
        product = summand;
      } else {
        std::ranges::transform(product, summand, product.begin(), std::plus());
      }
    }
    std::ranges::transform(sum, product, sum.begin(), std::plus());
    std::ranges::transform(a, a.begin(), next);
    std::ranges::transform(b, b.begin(), next);
  }
  return examples::checksum(sum);
}

}  // namespace matmul3d
