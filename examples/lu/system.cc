#include "examples/lu/system.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace lu {

double System::at(std::size_t row, std::size_t column) const noexcept {
  if (singular) return 1;
  const std::uint64_t place = row * (size + 1) + column;
  return examples::fraction(examples::mix(seed) ^ place) - 0.5;
}

std::vector<std::size_t> serial_pivots(const System& system) {
  const std::size_t n = system.size;
  std::vector<std::vector<double>> rows(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i][j] = system.at(i, j);
  }
  std::vector<std::size_t> pivots;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t largest = k;  // the first of equals
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(rows[i][k]) > std::abs(rows[largest][k])) largest = i;
    }
    pivots.push_back(rows[largest][k] == 0 ? kNoPivot : largest);
    if (pivots.back() == kNoPivot) continue;
    std::swap(rows[k], rows[largest]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k + 1; j < n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  return pivots;
}

double scaled_residual(const System& system, std::span<const double> unknowns) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::ranges::all_of(unknowns, finite)) return std::numeric_limits<double>::infinity();
  double residual = 0, norm_a = 0, norm_b = 0, norm_x = 0;
  const auto part = examples::part(system.size, splitc::procs(), splitc::my_proc());
  for (std::size_t i = part.begin; i < part.end; ++i) {
    double sum = 0, magnitudes = 0;
    for (std::size_t j = 0; j < system.size; ++j) {
      sum += system.at(i, j) * unknowns[j];
      magnitudes += std::abs(system.at(i, j));
    }
    const double right = system.at(i, system.size);
    residual = std::max(residual, std::abs(sum - right));
    norm_a = std::max(norm_a, magnitudes);
    norm_b = std::max(norm_b, std::abs(right));
  }
  for (const double x : unknowns) norm_x = std::max(norm_x, std::abs(x));
  residual = splitc::all_reduce(residual, splitc::maximum());
  norm_a = splitc::all_reduce(norm_a, splitc::maximum());
  norm_b = splitc::all_reduce(norm_b, splitc::maximum());
  const double eps = std::numeric_limits<double>::epsilon() / 2;
  const auto n = static_cast<double>(system.size);
  return residual / (eps * (norm_a * norm_x + norm_b) * n);
}

}  // namespace lu
