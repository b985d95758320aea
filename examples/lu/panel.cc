#include "examples/lu/panel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace lu {
namespace {

constexpr double kNone = -1;  // sent in place of a pivot
constexpr std::size_t kTogether = 4;

// column -= the products of its numbers in rows `from` to `to`, which come to be those of U, with
// the columns of L that begin on the diagonal there. The 4 columns at most are read side by side.
void take_in(const Columns& panel, const Panel& at, std::size_t from, std::size_t to,
             double* column, std::size_t rows) {
  const double* l[kTogether];
  double u[kTogether];
  for (std::size_t k = from; k < to; ++k) {
    l[k - from] = panel.column(k) + at.first;
    u[k - from] = column[k];
    for (std::size_t i = k + 1; i < to; ++i) column[i] -= l[k - from][i] * u[k - from];
  }
  if (to - from == kTogether) {
    for (std::size_t i = to; i < rows; ++i) {
      double sum = column[i] - l[0][i] * u[0];
      sum -= l[1][i] * u[1];
      sum -= l[2][i] * u[2];
      column[i] = sum - l[3][i] * u[3];
    }
    return;
  }
  for (std::size_t k = 0; k < to - from; ++k) {
    for (std::size_t i = to; i < rows; ++i) column[i] -= l[k][i] * u[k];
  }
}

// The row of the largest number from row `k` on, the first of equals.
std::size_t largest(const double* column, std::size_t k, std::size_t rows) {
  std::size_t best = k;
  for (std::size_t i = k + 1; i < rows; ++i) {
    if (std::abs(column[i]) > std::abs(column[best])) best = i;
  }
  return best;
}

// Puts the pivot on the diagonal of column `k` and divides what is below it. Returns what is sent
// of it.
double choose_pivot(const Columns& columns, const Panel& panel, std::size_t k, std::size_t rows) {
  double* const column = columns.column(k) + panel.first;
  const std::size_t row = largest(column, k, rows);
  if (column[row] == 0) return kNone;
  for (std::size_t j = 0; j < panel.width; ++j) {
    double* const other = columns.column(j) + panel.first;
    std::swap(other[k], other[row]);
  }
  for (std::size_t i = k + 1; i < rows; ++i) column[i] /= column[k];
  return static_cast<double>(panel.first + row);
}

}  // namespace

// A column takes in those before it when its own turn comes: only that one is written meanwhile.
void factor(const Panel& panel, const Columns& columns, std::span<double> packed) {
  const std::size_t rows = panel.width + panel.below;
  for (std::size_t k = 0; k < panel.width; ++k) {
    double* const column = columns.column(k) + panel.first;
    for (std::size_t from = 0; from < k; from += kTogether) {
      take_in(columns, panel, from, std::min(from + kTogether, k), column, rows);
    }
    packed[k] = choose_pivot(columns, panel, k, rows);
  }
  double* to = packed.data() + panel.width;
  for (std::size_t k = 0; k < panel.width; ++k, to += panel.width) {
    std::copy_n(columns.column(k) + panel.first, panel.width, to);
  }
  pack(columns, panel.first + panel.width, panel.below, to);
}

std::size_t pivot(std::span<const double> packed, std::size_t i) noexcept {
  return packed[i] == kNone ? kNoPivot : static_cast<std::size_t>(packed[i]);
}

void update(const Panel& panel, std::span<const double> packed, const Columns& columns) {
  const double* const square = packed.data() + panel.width;
  for (std::size_t j = 0; j < columns.count; ++j) {
    double* const column = columns.column(j);
    double* const top = column + panel.first;
    for (std::size_t k = 0; k < panel.width; ++k) {
      if (packed[k] != kNone) std::swap(top[k], column[pivot(packed, k)]);
    }
    for (std::size_t k = 0; k < panel.width; ++k) {
      const double* const l = square + k * panel.width;
      for (std::size_t i = k + 1; i < panel.width; ++i) top[i] -= l[i] * top[k];
    }
  }
  subtract_product(square + panel.width * panel.width, panel.below, panel.width, columns,
                   panel.first);
}

}  // namespace lu
