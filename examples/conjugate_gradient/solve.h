// The system solved by all processes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/conjugate_gradient/halo.h"
#include "examples/conjugate_gradient/matrix.h"
#include "examples/conjugate_gradient/problem.h"
#include "examples/conjugate_gradient/rows.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace conjugate_gradient {

class Solver {
 public:
  // Collective, and so is the end. `entries` are those of this process's rows.
  Solver(const Problem& problem, std::span<const Entry> entries);

  // Collective. Throws in every process if the matrix turns out not to be positive definite. An
  // iteration is a step of `progress`.
  Outcome solve(const Version& version, examples::Progress& progress);
  // The unknowns that the last solve() has found, all of them, in this process.
  std::vector<double> unknowns() const;
  // Elements that come from other processes in every iteration, all processes' together.
  // Collective.
  std::uint64_t all_ghosts() const;

 private:
  void make_right_side(std::span<const Entry> entries);
  // matrix_product_ := A * direction_
  void multiply(Halo& halo);
  // x += step p, r -= step q. Returns r' r. Collective.
  double advance(double step);

  const Problem& problem_;
  const splitc::distribution blocks_;
  const Plan plan_;
  const Rows rows_;
  Vector direction_;                               // p
  splitc::spread_array<double> unknowns_;          // x
  std::vector<double> right_side_;                 // b
  std::vector<double> residual_, matrix_product_;  // r = b - A x, q = A p
};

}  // namespace conjugate_gradient
