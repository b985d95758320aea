#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace matmul3d {

using examples::Grid;
using examples::Range;

// Who multiplies what: process (x, y, z) multiplies the rows x of A by the columns y of B, as far
// as its depth z goes. Matrices have n x n numbers, row behind row.
//
// The part of A that it needs is needed by all (x, ., z), and each of these has a piece of it at
// first: some columns. Of the part of B all (., y, z) have some rows. Of the product all (x, y, .)
// have a summand of each number, and each of these adds up some rows.
struct Decomposition {
  std::size_t n;
  Grid grid;

  Grid place(std::uint32_t proc) const noexcept;
  std::uint32_t proc(const Grid& place) const noexcept;
  Range rows(const Grid& at) const noexcept { return examples::part(n, grid[0], at[0]); }
  Range columns(const Grid& at) const noexcept { return examples::part(n, grid[1], at[1]); }
  Range depth(const Grid& at) const noexcept { return examples::part(n, grid[2], at[2]); }
};

// What processes exchange: first their pieces of A and B, then rows of the product.
enum class Phase : std::uint8_t { kInputs, kProducts };

// Rows of numbers that go from one process to another. They lie equally far apart at both ends.
struct Piece {
  std::uint32_t peer;   // the other process
  const double* from;   // at the sender, if that is this process
  std::size_t place;    // at the receiver, in its numbers
  std::size_t landing;  // the place where they may lie one behind the other until they are there
  std::size_t rows, columns, stride;

  std::size_t bytes() const noexcept { return rows * columns * sizeof(double); }
  bool contiguous() const noexcept { return columns == stride; }
};

// One process's part. Every iteration multiplies other matrices, whose products are added up. All
// numbers exist twice, for even and odd iterations.
class Problem {
 public:
  explicit Problem(const Decomposition& whole);  // collective, and so is its end

  // An iteration is: prepare(turn), exchange the inputs, multiply(turn), exchange the products,
  // add(turn), where turn is the iteration's number modulo 2.
  void prepare(unsigned turn);  // new numbers in this process's pieces of A and B
  void multiply(unsigned turn);
  void add(unsigned turn);
  std::uint64_t checksum() const;  // of what this process has added up

  // What goes to others, and what comes from others.
  const std::vector<Piece>& outgoing(unsigned turn, Phase phase) const noexcept {
    return outgoing_[turn][phase == Phase::kProducts];
  }
  const std::vector<Piece>& incoming(unsigned turn, Phase phase) const noexcept {
    return incoming_[turn][phase == Phase::kProducts];
  }

  // All places are in these.
  std::size_t size() const noexcept { return 2 * turn_size_; }
  std::span<double> numbers() const noexcept { return numbers_.mine(); }
  splitc::global_ptr<double> numbers_of(std::uint32_t proc) const { return numbers_.on(proc); }

 private:
  void find_sizes();
  void find_inputs(unsigned turn);
  void find_products(unsigned turn);
  double* a(unsigned turn) const noexcept { return numbers().data() + turn * turn_size_; }
  double* b(unsigned turn) const noexcept { return a(turn) + b_place_; }
  // Rows of the product as process (x, y, z) has multiplied them.
  double* summand(unsigned turn, std::size_t z) const noexcept {
    return a(turn) + summands_place_ + z * summand_size_;
  }
  Piece piece_of_a(unsigned turn, std::uint32_t peer, const Range& columns) const noexcept;
  Piece piece_of_b(unsigned turn, std::uint32_t peer, const Range& rows) const noexcept;
  // Rows of the product as process (x, y, z) has multiplied them.
  Piece piece_of_sum(unsigned turn, std::uint32_t peer, const Range& rows,
                     std::size_t z) const noexcept;

  // Constant after construction.
  Decomposition whole_;
  Grid at_;  // of this process
  Range rows_, columns_, depth_;
  Range a_columns_, b_rows_, sum_rows_;  // its pieces, counted from where its parts begin
  std::size_t b_place_ = 0, summands_place_ = 0, summand_size_ = 0, turn_size_ = 0;
  splitc::spread_array<double> numbers_{0};  // by turn: part of A, part of B, summands by z
  std::vector<Piece> outgoing_[2][2];        // by turn and phase
  std::vector<Piece> incoming_[2][2];
  // Of the iteration under way.
  std::vector<double> a_piece_, b_piece_;
  std::vector<double> product_[2];  // by turn, as pieces of one may be on their way
  std::vector<double> sum_;
};

// What all processes together have added up after `iterations`, computed by this one alone.
std::uint64_t serial_checksum(const Decomposition& whole, std::uint32_t iterations);

}  // namespace matmul3d
