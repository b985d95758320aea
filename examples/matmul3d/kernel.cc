#include "examples/matmul3d/kernel.h"

#include <algorithm>

#include "examples/matmul3d/add_product.h"

namespace matmul3d {
namespace {

// Part of the next row of A may have just been written by another process: its lines can come while
// this row is multiplied.
void ask_for(const double* numbers, std::size_t count) noexcept {
  constexpr std::size_t kLine = 64 / sizeof(double);
  for (std::size_t i = 0; i < count; i += kLine) __builtin_prefetch(numbers + i);
}

// Adds one row of a product, four steps of its depth at a time.
void add_row(const double* a, const Operand& b, std::size_t depth, std::size_t columns,
             double* __restrict row) noexcept {
  std::size_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const double* const b0 = b.numbers + k * b.stride;
    const double* const b1 = b0 + b.stride;
    const double* const b2 = b1 + b.stride;
    const double* const b3 = b2 + b.stride;
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = row[j] + a[k] * b0[j];
      sum += a[k + 1] * b1[j];
      sum += a[k + 2] * b2[j];
      row[j] = sum + a[k + 3] * b3[j];
    }
  }
  for (; k < depth; ++k) {
    const double* const b0 = b.numbers + k * b.stride;
    for (std::size_t j = 0; j < columns; ++j) row[j] += a[k] * b0[j];
  }
}

}  // namespace

void multiply(const Operand& a, const Operand& b, std::size_t rows, std::size_t depth,
              std::size_t columns, double* product) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    if (i + 1 < rows) ask_for(a.numbers + (i + 1) * a.stride, depth);
    double* const row = product + i * columns;
    std::fill_n(row, columns, 0.0);
    add_row(a.numbers + i * a.stride, b, depth, columns, row);
  }
}

void add_product(const Operand& a, const Operand& b, std::size_t rows, std::size_t depth,
                 std::size_t columns, double* sum) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    if (i + 1 < rows) ask_for(a.numbers + (i + 1) * a.stride, depth);
    add_row(a.numbers + i * a.stride, b, depth, columns, sum + i * columns);
  }
}

}  // namespace matmul3d

void matmul3d_add_product(const double* a, std::size_t a_stride, const double* b,
                          std::size_t b_stride, std::size_t rows, std::size_t depth,
                          std::size_t columns, double* sum) {
  matmul3d::add_product({a, a_stride}, {b, b_stride}, rows, depth, columns, sum);
}
