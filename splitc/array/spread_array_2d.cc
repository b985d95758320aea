#include "splitc/array/spread_array_2d.h"

#include <string>

namespace splitc {
namespace {

// The larger side of the squarest grid of `procs` tiles.
std::size_t long_side(std::size_t procs) {
  std::size_t side = 1;
  for (std::size_t d = 1; d * d <= procs; ++d) {
    if (procs % d == 0) side = d;
  }
  return procs / side;
}

}  // namespace

tiling::tiling(std::size_t rows, std::size_t columns, layout by_row, layout by_column,
               std::uint32_t procs)
    : rows_(rows), columns_(columns), procs_(procs), q_(1), r_(1) {
  std::size_t row_parts = procs;
  std::size_t column_parts = procs;
  if (by_row.is_blocked() && by_column.is_blocked()) {
    const std::size_t side = long_side(procs);
    row_parts = rows >= columns ? side : procs / side;
    column_parts = procs / row_parts;
  }
  q_ = by_row.block(rows, row_parts);
  r_ = by_column.block(columns, column_parts);
  detail::product(rows_, "rows", columns_, "elements", "spread_array_2d");
  detail::product(q_, "rows of a tile", r_, "elements", "spread_array_2d");
}

void detail::refuse_tile(std::size_t ti, std::size_t tj, std::uint32_t owner,
                         am::SourceLocation where) {
  detail::refuse({"spread_array_2d::tile", where},
                 "tile (" + std::to_string(ti) + ", " + std::to_string(tj) + ") is of process " +
                     std::to_string(owner) + "; read it through tile_pointer()");
}

}  // namespace splitc
