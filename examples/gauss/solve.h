// The same system solved by all processes, which have its rows in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/gauss/copies.h"
#include "examples/gauss/problem.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace gauss {

// What one process has done for a solution.
struct Solution {
  std::vector<double> unknowns;  // all of them, in every process
  bool singular = false;         // a pivot was 0: there are none
  std::uint64_t exchanges = 0;   // that were waited for: values, rows, reductions
  double communication = 0;      // seconds that these took
  double seconds = 0;            // in all
};

class Solver {
 public:
  // Collective.
  explicit Solver(const System& system);

  // Collective. May be called again, for another search. The steps of `progress` are those that
  // work() counts.
  Solution solve(Search search, examples::Progress& progress);
  // Elements that the elimination of `size` equations changes, each column anew.
  static std::uint64_t work(std::size_t size) noexcept;

 private:
  struct Pivot {
    double magnitude;
    std::uint64_t row;
  };

  static std::uint32_t owner(std::size_t row) noexcept {
    return static_cast<std::uint32_t>(row % splitc::procs());
  }
  // A row of any process, and one of this process's own.
  splitc::global_ptr<double> row_at(std::size_t row) const;
  std::span<double> own_row(std::size_t row) const;

  void fill();
  // The pivot's row of `column`, which is in pivot_ then, in every process.
  std::size_t next_pivot(std::size_t column, Search search);
  std::size_t find_pivot(std::size_t column, Search search);
  // Finds it as kRows says, and gives every process its row as spread() does.
  std::size_t gather_pivot(std::size_t column);
  Pivot read_each(std::size_t column);
  double value_at(std::size_t row, std::size_t column);
  static bool is_larger(const Pivot& a, const Pivot& b) noexcept;
  Pivot largest_here(std::size_t column) const;
  Pivot reduce(const Pivot& mine);
  void synchronize();
  static bool stores(Search search) noexcept;
  // Gives every process the row's columns from `column` on.
  void spread(std::size_t row, std::size_t column, Search search);
  void substitute_all(Search search);
  class Exchange;  // counts and times one

  const System system_;
  splitc::spread_array<double> rows_;
  std::vector<bool> used_;          // rows that were a pivot's
  std::vector<std::size_t> order_;  // which row was the pivot of which column
  Copies pivot_;                    // the row of the current column
  Copies unknowns_;
  std::vector<double> candidate_;   // of this process, for gather_pivot()
  std::vector<double> candidates_;  // of all
  Solution solution_;
};

}  // namespace gauss
