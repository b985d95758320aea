#include "splitc/array/spread_array.h"

#include <string>

#include "splitc/array/for_each.h"
#include "splitc/array/spread_array_2d.h"

namespace splitc::detail {

void refuse_index(std::size_t i, std::size_t n, Call call) {
  // A program that comes to 2^63 has counted below 0, and mostly one that comes near 2^32, too.
  const auto narrow = static_cast<std::int32_t>(i);
  const bool wrapped = i >> 32 == 0 && narrow < 0;
  refuse(call, "there is no index " + std::to_string(static_cast<std::ptrdiff_t>(i)) +
                   (wrapped ? " (an unsigned " + std::to_string(narrow) + ")" : "") + ": " +
                   (n == 0 ? "it has no elements"
                           : "it has " + std::to_string(n) + ", 0 to " + std::to_string(n - 1)));
}

void check_cyclic(std::size_t block, Call call) {
  if (block == 1) return;
  refuse(call, "a spread pointer goes from process to process, and this array has blocks of " +
                   std::to_string(block) +
                   " elements; write &a[i], or a.on(p) + k, whose arithmetic stays on a process");
}

namespace {

std::string pair(std::size_t a, std::size_t b) {
  return std::to_string(a) + " by " + std::to_string(b);
}

std::string described(const distribution& map) {
  return std::to_string(map.size()) + " elements in blocks of " + std::to_string(map.block());
}
std::string described(const tiling& map) {
  return pair(map.rows(), map.columns()) + " elements in tiles of " + pair(map.q(), map.r());
}

template <class Map>
[[noreturn]] void refuse_maps(const Map& a, const Map& b, Call call) {
  refuse(call, "the arrays are not laid out alike: one has " + described(a) + ", the other " +
                   described(b) +
                   ", so elements of the same index may be on different processes; make both "
                   "with the same size and layout");
}

}  // namespace

void refuse_layouts(const distribution& a, const distribution& b, Call call) {
  refuse_maps(a, b, call);
}
void refuse_layouts(const tiling& a, const tiling& b, Call call) { refuse_maps(a, b, call); }

void refuse_empty(Call call) {
  refuse(call,
         "the array has no elements, so there is no such one; ask for its size first, or call "
         "all_reduce_elements() with a value for that case");
}

}  // namespace splitc::detail

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
