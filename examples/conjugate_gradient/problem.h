// What is to be solved, and what one process alone finds out about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "examples/conjugate_gradient/matrix.h"

namespace conjugate_gradient {

// A system A x = b for the matrix A and an x that is drawn: so b is A times that.
struct Problem {
  std::uint32_t size = 0;             // equations, and unknowns
  std::uint64_t seed = 1;             // of x
  double tolerance = 1e-8;            // of the residual, as a part of the right side
  std::uint32_t iterations = 10'000;  // at most

  double drawn(std::uint32_t i) const noexcept;  // unknown i, from -1 to 1
};

// How a solution went.
struct Outcome {
  std::uint32_t iterations = 0;
  double residual = 0;  // |b - A x| / |b|, as it is carried along by the iterations
  double seconds = 0;
};

// Of curvature = p' A p, which has to be greater than 0.
[[noreturn]] void refuse_curvature(double curvature, std::uint32_t iteration);

// The same iterations by this process alone, with the additions of the solution by blocks of
// `block` elements in the same order: the same unknowns, bit by bit.
struct SerialSolution {
  std::vector<double> unknowns;
  Outcome outcome;
};
SerialSolution solve_serially(const Problem& problem, const Matrix& matrix, std::size_t block);

// What can be said about unknowns without a look at how they were found.
struct Examination {
  double residual = 0;        // |b - A x| / |b|
  double residual_limit = 0;  // what the tolerance and rounding allow
  // Compared with the unknowns of a dense Cholesky factorization, if the matrix is small enough for
  // one: |difference|, and what the residual allows.
  std::optional<double> difference;
  double difference_limit = 0;

  bool right() const noexcept {
    return residual <= residual_limit && difference.value_or(0) <= difference_limit;
  }
};
// Throws if the factorization shows that the matrix is not positive definite.
Examination examine(const Problem& problem, const Matrix& matrix, std::span<const double> unknowns);

inline constexpr std::uint32_t kDense = 300;  // equations at most for the factorization

}  // namespace conjugate_gradient
