// A system of linear equations A x = b, made from a seed, and its solution by one process alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gauss {

// Where the next pivot comes from.
enum class Search : std::uint8_t {
  kNone,    // no search: the next row, whatever is in it
  kReduce,  // the largest of its column: each process finds its own, and one reduction the largest
  kRows,    // the same, but each shows its own with the whole row: then that of the pivot is there
  kEach,    // the same, but one process reads every candidate by itself: many short exchanges
};

struct System {
  std::size_t size = 0;  // equations, and unknowns
  std::uint64_t seed = 1;
  bool singular = false;  // all coefficients are 1

  std::size_t columns() const noexcept { return size + 1; }  // of a row: coefficients, right side
  double at(std::size_t row, std::size_t column) const noexcept;
};

// The two steps of which every solution is made, in an order of additions that is always the same:
// so all solutions are equal bit by bit.
//
// row -= pivot * factor, which makes row[column] 0. Both rows have all columns.
void eliminate(std::span<double> row, std::span<const double> pivot, std::size_t column);
// The unknown of `column`, from its row and those behind it.
double substitute(std::span<const double> row, std::span<const double> unknowns,
                  std::size_t column);

// The unknowns; nullopt: a pivot was 0.
std::optional<std::vector<double>> solve_serially(const System& system, Search search);
// The largest difference between the two sides of an equation.
double residual(const System& system, std::span<const double> unknowns);

}  // namespace gauss
