#pragma once

#include <cstddef>

// The arithmetic that all versions and the serial computation share, so that they agree to the last
// bit: every number of a product is added up in the order of its depth.

namespace matmul3d {

// product = a * b, with a of rows x depth and b of depth x columns numbers. Strides between rows.
struct Operand {
  const double* numbers;
  std::size_t stride;
};
void multiply(const Operand& a, const Operand& b, std::size_t rows, std::size_t depth,
              std::size_t columns, double* product) noexcept;
// sum += a * b, likewise.
void add_product(const Operand& a, const Operand& b, std::size_t rows, std::size_t depth,
                 std::size_t columns, double* sum) noexcept;

// The numbers of A and B are other ones in every iteration: the logistic map, where it is chaotic.
inline double next(double x) noexcept { return 3.9 * x * (1 - x); }

}  // namespace matmul3d
