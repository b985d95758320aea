// A sparse matrix as a list of its entries, and where such a list comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conjugate_gradient {

struct Entry {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

// Symmetric, with both halves in the list.
struct Matrix {
  std::uint32_t size = 0;      // rows, and columns
  std::vector<Entry> entries;  // by row, those of a row by column, each place once
};

// The matrix in the Matrix Market file at `path`: coordinate, real or integer, symmetric or general
// (then with equal halves). Throws std::runtime_error, naming file, line and cause, for anything
// else, and for a matrix that cannot be positive definite since its diagonal is not positive.
Matrix read_matrix(const std::string& path);
Matrix parse_matrix(std::string_view text);

// The points of a square or of a cube, where Poisson's equation is solved by differences: one row
// for each point, with an entry for the point and one for each of its neighbours.
struct Grid {
  std::uint32_t side = 100;  // points along each dimension
  std::uint32_t dimensions = 2;

  std::uint64_t points() const noexcept;
};

// The entries of rows `first` to `last` of its matrix.
std::vector<Entry> poisson(const Grid& grid, std::uint32_t first, std::uint32_t last);

}  // namespace conjugate_gradient
