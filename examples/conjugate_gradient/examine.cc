#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "examples/conjugate_gradient/problem.h"

namespace conjugate_gradient {
namespace {

using Numbers = std::vector<double>;

double norm(std::span<const double> x) {
  double sum = 0;
  for (const double one : x) sum += one * one;
  return std::sqrt(sum);
}

// The greatest sum of a row's magnitudes, which no singular value exceeds.
double norm(const Matrix& matrix) {
  Numbers sums(matrix.size);
  for (const Entry& entry : matrix.entries) sums[entry.row] += std::abs(entry.value);
  return sums.empty() ? 0 : std::ranges::max(sums);
}

// A = L L' for a lower triangle L, with all zeros.
class Cholesky {
 public:
  explicit Cholesky(const Matrix& matrix) : size_(matrix.size), l_(size_ * size_) {
    for (const Entry& entry : matrix.entries) at(entry.row, entry.column) = entry.value;
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k < j; ++k) {
        for (std::size_t i = j; i < size_; ++i) at(i, j) -= at(i, k) * at(j, k);
      }
      if (!(at(j, j) > 0)) {
        throw std::runtime_error("conjugate_gradient: the matrix is not positive definite: pivot " +
                                 std::to_string(j + 1) + " of its Cholesky factorization is " +
                                 std::to_string(at(j, j)));
      }
      const double root = std::sqrt(at(j, j));
      for (std::size_t i = j; i < size_; ++i) at(i, j) /= root;
    }
  }

  Numbers solve(Numbers b) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= at(i, k) * b[k];
      b[i] /= at(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) b[i] -= at(k, i) * b[k];
      b[i] /= at(i, i);
    }
    return b;
  }

  // The root of the sum of the squares of the inverse: a bound of its norm.
  double norm_of_inverse() const {
    double sum = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      Numbers unit(size_);
      unit[j] = 1;
      const double column = norm(solve(std::move(unit)));
      sum += column * column;
    }
    return std::sqrt(sum);
  }

 private:
  double& at(std::size_t i, std::size_t j) { return l_[j * size_ + i]; }
  double at(std::size_t i, std::size_t j) const { return l_[j * size_ + i]; }

  std::size_t size_;
  Numbers l_;  // by column; what is above the diagonal is of no meaning
};

}  // namespace

// The residual that the iterations carry along is not b - A x in the end: each step rounds both.
// What is lost in all steps is seldom more than some hundred roundings of A x.
//
// Two solutions whose residuals are r and s differ by A^-1 (r - s).
Examination examine(const Problem& problem, const Matrix& matrix,
                    std::span<const double> unknowns) {
  Numbers b(matrix.size), left(matrix.size);
  for (const Entry& entry : matrix.entries) {
    b[entry.row] += entry.value * problem.drawn(entry.column);
    left[entry.row] += entry.value * unknowns[entry.column];
  }
  Numbers residual(b);
  for (std::size_t i = 0; i < b.size(); ++i) residual[i] -= left[i];
  const double length = norm(b);
  const double rounding =
      1000 * std::numeric_limits<double>::epsilon() * norm(matrix) * norm(unknowns);
  const double limit = problem.tolerance * length + rounding;
  Examination found;
  if (length > 0) {
    found.residual = norm(residual) / length;
    found.residual_limit = limit / length;
  }
  if (matrix.size <= kDense) {
    const Cholesky factors(matrix);
    Numbers difference = factors.solve(b);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= unknowns[i];
    found.difference = norm(difference);
    found.difference_limit = factors.norm_of_inverse() * (limit + rounding);
  }
  return found;
}

}  // namespace conjugate_gradient
