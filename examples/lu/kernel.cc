#include "examples/lu/kernel.h"

#include <algorithm>
#include <vector>

namespace lu {
namespace {

constexpr std::size_t kWide = 4;           // columns that are done together
constexpr std::size_t kRowsInCache = 512;  // of a, with 64 columns: 256 KiB, for the second cache

// 4 rows of 4 columns, which fit in the registers meanwhile.
void subtract_tile(const double* a, const double* b, std::size_t depth, double* c,
                   std::size_t stride) noexcept {
  double tile[kWide][kStrip];
  for (std::size_t j = 0; j < kWide; ++j) {
    for (std::size_t i = 0; i < kStrip; ++i) tile[j][i] = c[j * stride + i];
  }
  for (std::size_t k = 0; k < depth; ++k, a += kStrip, b += kWide) {
    for (std::size_t j = 0; j < kWide; ++j) {
      for (std::size_t i = 0; i < kStrip; ++i) tile[j][i] -= a[i] * b[j];
    }
  }
  for (std::size_t j = 0; j < kWide; ++j) {
    for (std::size_t i = 0; i < kStrip; ++i) c[j * stride + i] = tile[j][i];
  }
}

// The same where the matrix ends inside the tile.
void subtract_edge(const double* a, const double* b, std::size_t depth, double* c,
                   std::size_t stride, std::size_t rows, std::size_t columns) noexcept {
  double whole[kWide * kStrip] = {};
  for (std::size_t j = 0; j < columns; ++j) std::copy_n(c + j * stride, rows, whole + j * kStrip);
  subtract_tile(a, b, depth, whole, kStrip);
  for (std::size_t j = 0; j < columns; ++j) std::copy_n(whole + j * kStrip, rows, c + j * stride);
}

// 4 columns of b row behind row, with zeros in place of columns that are not there.
void pack_right(const Columns& from, std::size_t first, std::size_t first_row,
                std::span<double> packed) {
  std::ranges::fill(packed, 0.0);
  for (std::size_t j = first; j < std::min(first + kWide, from.count); ++j) {
    const double* const numbers = from.column(j) + first_row;
    for (std::size_t k = 0; k * kWide < packed.size(); ++k) {
      packed[k * kWide + (j - first)] = numbers[k];
    }
  }
}

}  // namespace

void pack(const Columns& from, std::size_t first_row, std::size_t rows, double* packed) {
  for (std::size_t i = 0; i < rows; i += kStrip) {
    const std::size_t there = std::min(kStrip, rows - i);
    for (std::size_t k = 0; k < from.count; ++k, packed += kStrip) {
      std::copy_n(from.column(k) + first_row + i, there, packed);
      std::fill(packed + there, packed + kStrip, 0.0);
    }
  }
}

// As many rows of a as the second cache holds are used for all columns before the next ones come.
void subtract_product(const double* packed, std::size_t rows, std::size_t depth,
                      const Columns& columns, std::size_t first_row) {
  std::vector<double> b(depth * kWide);
  for (std::size_t top = 0; top < rows; top += kRowsInCache) {
    const std::size_t bottom = std::min(top + kRowsInCache, rows);
    for (std::size_t j = 0; j < columns.count; j += kWide) {
      pack_right(columns, j, first_row, b);
      const std::size_t wide = std::min(kWide, columns.count - j);
      double* const c = columns.column(j) + first_row + depth;
      for (std::size_t i = top; i < bottom; i += kStrip) {
        const double* const a = packed + i * depth;
        const std::size_t high = std::min(kStrip, bottom - i);
        if (high == kStrip && wide == kWide) {
          subtract_tile(a, b.data(), depth, c + i, columns.stride);
        } else {
          subtract_edge(a, b.data(), depth, c + i, columns.stride, high, wide);
        }
      }
    }
  }
}

}  // namespace lu
