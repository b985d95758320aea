// The same system solved by all processes, which have its columns in blocks, in turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/lu/panel.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace lu {

struct Solution {
  std::vector<double> unknowns;     // all of them, in every process; none if a pivot is missing
  std::vector<std::size_t> pivots;  // row exchanged with row 0, 1, 2 ..., or kNoPivot
  double seconds = 0;
};

class Solver {
 public:
  // Columns in blocks of `width`. Collective, and so is the end of it.
  Solver(const System& system, std::size_t width);

  // Collective. The steps of `progress` are those that work() counts.
  Solution solve(examples::Progress& progress);
  // Elements that the factorization of a system of `size` equations changes, each panel anew.
  static std::uint64_t work(std::size_t size, std::size_t width) noexcept;

 private:
  // Room for a panel in every process. There are two, in turn: the next panel comes while one is
  // in use.
  struct Buffer {
    explicit Buffer(std::size_t largest) : packed(splitc::procs(), largest) {}
    splitc::spread_array<double> packed;
    splitc::store_counter arrived;
  };

  Panel panel_at(std::size_t k) const noexcept;
  std::uint32_t owner_of_column(std::size_t j) const noexcept {
    return matrix_.owner(j * system_.size);
  }
  std::uint32_t owner_of_panel(std::size_t k) const noexcept { return owner_of_column(k * width_); }
  bool mine(std::size_t k) const noexcept { return owner_of_panel(k) == splitc::my_proc(); }
  // This process's columns from `first` on, or the first `count` of them.
  Columns columns_from(std::size_t first) const;
  Columns columns_from(std::size_t first, std::size_t count) const;
  Buffer& buffer(std::size_t k) noexcept { return k % 2 == 0 ? even_ : odd_; }
  // Panel k in this process, as it is sent.
  std::span<double> packed(std::size_t k);

  void fill();
  void factor_all(examples::Progress& progress);
  void make(std::size_t k);
  void send(std::size_t k);
  void receive(std::size_t k);
  void eliminate(std::size_t k);
  bool complete() const noexcept;
  void substitute_all();
  void substitute(std::size_t k);

  const System system_;
  const std::size_t width_;
  const std::size_t panels_;
  splitc::spread_array<double> matrix_;  // column behind column, and the right side behind them
  Buffer even_, odd_;                    // of the panels
  splitc::spread_array<double> right_;   // what is left of the right side, where it is
  splitc::store_counter right_arrived_;
  splitc::spread_array<double> unknowns_;
  Solution solution_;
};

}  // namespace lu
