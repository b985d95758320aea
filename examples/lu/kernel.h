// Where the time goes: a matrix less a product, of which the left factor is packed.
#pragma once

#include <cstddef>
#include <span>

namespace lu {

// A matrix column behind column; `stride` numbers from one column to the next.
struct Columns {
  double* numbers;
  std::size_t count;
  std::size_t stride;

  double* column(std::size_t j) const noexcept { return numbers + j * stride; }
};

// A packed matrix consists of strips of 4 rows, one behind the other, each column behind column: in
// this order they are read. The last strip is filled up with zeros.
inline constexpr std::size_t kStrip = 4;
constexpr std::size_t packed_size(std::size_t rows, std::size_t columns) noexcept {
  return (rows + kStrip - 1) / kStrip * kStrip * columns;
}
void pack(const Columns& from, std::size_t first_row, std::size_t rows, double* packed);

// c -= a * b, below the factor b in the same columns: the rows of b are `first_row` to `first_row +
// depth`, those of c the next ones, as many as the packed matrix a of `depth` columns has. Every
// number takes in the products in the order of the depth, each rounded, as by the plain algorithm.
void subtract_product(const double* packed, std::size_t rows, std::size_t depth,
                      const Columns& columns, std::size_t first_row);

}  // namespace lu
