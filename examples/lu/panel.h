// A panel: the columns of one block from the diagonal on down, which the process that has them
// factors by itself, and what the others need of it.
#pragma once

#include <cstddef>
#include <span>

#include "examples/lu/kernel.h"
#include "examples/lu/system.h"

namespace lu {

// Which columns, and in which form they are sent: the pivots, which are row numbers, as doubles, so
// that it is one message; then the square on the diagonal, column behind column; then the rows
// below it, packed for subtract_product().
struct Panel {
  std::size_t first;  // column, and row
  std::size_t width;
  std::size_t below;  // rows below the square

  std::size_t size() const noexcept { return width + width * width + packed_size(below, width); }
};

// Factors the panel in its `columns`, which are `width` columns of the matrix, and writes what is
// to be sent to `packed`.
void factor(const Panel& panel, const Columns& columns, std::span<double> packed);

// The row that is exchanged with row `first + i`, or kNoPivot.
std::size_t pivot(std::span<const double> packed, std::size_t i) noexcept;

// Takes a factored panel in: what is left of the `columns`, which are behind it.
void update(const Panel& panel, std::span<const double> packed, const Columns& columns);

}  // namespace lu
