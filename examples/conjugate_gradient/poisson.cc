#include "examples/conjugate_gradient/matrix.h"

namespace conjugate_gradient {

std::uint64_t Grid::points() const noexcept {
  std::uint64_t points = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) points *= side;
  return points;
}

// Points are numbered along the first dimension, then along the second, then along the third; a
// neighbour along dimension d is side^d numbers away. Beyond the border the solution is 0.
std::vector<Entry> poisson(const Grid& grid, std::uint32_t first, std::uint32_t last) {
  std::vector<Entry> entries;
  entries.reserve(std::size_t{last - first} * (2 * grid.dimensions + 1));
  std::uint32_t distance[3] = {1, grid.side, grid.side * grid.side};
  for (std::uint32_t row = first; row < last; ++row) {
    const auto place = [&](std::uint32_t d) { return row / distance[d] % grid.side; };
    for (std::uint32_t d = grid.dimensions; d-- > 0;) {
      if (place(d) > 0) entries.push_back({row, row - distance[d], -1});
    }
    entries.push_back({row, row, 2.0 * grid.dimensions});
    for (std::uint32_t d = 0; d < grid.dimensions; ++d) {
      if (place(d) + 1 < grid.side) entries.push_back({row, row + distance[d], -1});
    }
  }
  return entries;
}

}  // namespace conjugate_gradient
