// A system of linear equations A x = b, made from a seed, and what is right about its solution,
// found without the factors that the processes have computed together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lu {

// In place of a row: all candidates for the pivot are 0.
inline constexpr std::size_t kNoPivot = ~std::size_t{0};

struct System {
  std::size_t size = 0;  // equations, and unknowns
  std::uint64_t seed = 1;
  bool singular = false;  // all coefficients are 1

  // A coefficient, from -0.5 to 0.5, or in column `size` the right side.
  double at(std::size_t row, std::size_t column) const noexcept;
  bool has_solution() const noexcept { return !singular || size == 1; }
};

// The rows that partial pivoting exchanges with rows 0, 1, 2 ..., by the plain algorithm: column by
// column, row by row, on this process alone.
std::vector<std::size_t> serial_pivots(const System& system);

// The residual as High-Performance Linpack scales it, |A x - b| / (eps (|A| |x| + |b|) n) with the
// largest norms, which is a small number for every n; infinity if an unknown is not finite. Every
// process has all unknowns and does some of the rows. Collective.
double scaled_residual(const System& system, std::span<const double> unknowns);

}  // namespace lu
