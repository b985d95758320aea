#include "examples/gauss/problem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "examples/application.h"

namespace gauss {

// From -1 to 1.
double System::at(std::size_t row, std::size_t column) const noexcept {
  if (singular) return 1;
  const std::uint64_t place = row * columns() + column;
  return 2 * examples::fraction(examples::mix(seed) ^ place) - 1;
}

void eliminate(std::span<double> row, std::span<const double> pivot, std::size_t column) {
  const double factor = row[column] / pivot[column];
  row[column] = 0;
  for (std::size_t j = column + 1; j < row.size(); ++j) row[j] -= factor * pivot[j];
}

double substitute(std::span<const double> row, std::span<const double> unknowns,
                  std::size_t column) {
  double sum = row.back();
  for (std::size_t j = column + 1; j + 1 < row.size(); ++j) sum -= row[j] * unknowns[j];
  return sum / row[column];
}

std::optional<std::vector<double>> solve_serially(const System& system, Search search) {
  const std::size_t n = system.size;
  std::vector<std::vector<double>> rows(n, std::vector<double>(system.columns()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= n; ++j) rows[i][j] = system.at(i, j);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const auto larger = [k](const auto& a, const auto& b) {
      return std::abs(a[k]) < std::abs(b[k]);
    };
    const auto next = rows.begin() + static_cast<std::ptrdiff_t>(k);
    // Moved to the front of those behind it, which keep their order: the first of the largest wins.
    const auto pivot = search == Search::kNone ? next : std::max_element(next, rows.end(), larger);
    std::rotate(next, pivot, pivot + 1);
    if (rows[k][k] == 0) return std::nullopt;
    for (std::size_t i = k + 1; i < n; ++i) eliminate(rows[i], rows[k], k);
  }
  std::vector<double> unknowns(n);
  for (std::size_t k = n; k-- > 0;) unknowns[k] = substitute(rows[k], unknowns, k);
  return unknowns;
}

double residual(const System& system, std::span<const double> unknowns) {
  double largest = 0;
  for (std::size_t i = 0; i < system.size; ++i) {
    double sum = -system.at(i, system.size);
    for (std::size_t j = 0; j < system.size; ++j) sum += system.at(i, j) * unknowns[j];
    largest = std::max(largest, std::abs(sum));
  }
  return largest;
}

}  // namespace gauss
