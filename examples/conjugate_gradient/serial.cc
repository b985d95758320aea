#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "examples/application.h"
#include "examples/conjugate_gradient/problem.h"

namespace conjugate_gradient {
namespace {

using Numbers = std::vector<double>;

Numbers product(const Matrix& matrix, const Numbers& x) {
  Numbers y(matrix.size);
  for (const Entry& entry : matrix.entries) y[entry.row] += entry.value * x[entry.column];
  return y;
}

// Block by block, as if each were another process's.
double dot(const Numbers& a, const Numbers& b, std::size_t block) {
  double sum = 0;
  for (std::size_t begin = 0; begin < a.size(); begin += block) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(begin + block, a.size()); ++i) part += a[i] * b[i];
    sum += part;
  }
  return sum;
}

Numbers right_side(const Problem& problem, const Matrix& matrix) {
  Numbers drawn;
  for (std::uint32_t i = 0; i < matrix.size; ++i) drawn.push_back(problem.drawn(i));
  return product(matrix, drawn);
}

}  // namespace

double Problem::drawn(std::uint32_t i) const noexcept {
  return 2 * examples::fraction(examples::mix(seed) ^ i) - 1;
}

void refuse_curvature(double curvature, std::uint32_t iteration) {
  throw std::runtime_error("conjugate_gradient: the matrix is not positive definite: p' A p is " +
                           std::to_string(curvature) + " for the direction p of iteration " +
                           std::to_string(iteration + 1));
}

SerialSolution solve_serially(const Problem& problem, const Matrix& matrix, std::size_t block) {
  const Numbers b = right_side(problem, matrix);
  Numbers x(matrix.size), r = b, p = b;
  const double first = dot(r, r, block);
  double square = first;
  Outcome outcome;
  while (square > problem.tolerance * problem.tolerance * first &&
         outcome.iterations < problem.iterations) {
    const Numbers q = product(matrix, p);
    const double curvature = dot(p, q, block);
    if (!(curvature > 0)) refuse_curvature(curvature, outcome.iterations);
    const double step = square / curvature;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * p[i];
    for (std::size_t i = 0; i < x.size(); ++i) r[i] -= step * q[i];
    const double before = square;
    square = dot(r, r, block);
    for (std::size_t i = 0; i < x.size(); ++i) p[i] = r[i] + square / before * p[i];
    ++outcome.iterations;
  }
  if (first > 0) outcome.residual = std::sqrt(square / first);
  return {std::move(x), outcome};
}

}  // namespace conjugate_gradient
