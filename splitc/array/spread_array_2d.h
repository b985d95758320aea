#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "splitc/array/layout.h"
#include "splitc/array/my_range.h"
#include "splitc/array/spread_array.h"

namespace splitc {

// A rectangle cut into tiles of q by r elements; tile (i, j) is number i * tile_columns() + j, on
// process number mod P (Split-C's T X[v][w]::[q][r]). Arithmetic only; any thread.
class tiling {
 public:
  tiling() noexcept : rows_(0), columns_(0), procs_(1), q_(1), r_(1) {}
  // A blocked dimension is cut so that each process gets about one tile: into P parts if the other
  // dimension is not blocked, else the two together into the squarest grid of P.
  // Throws Error, naming spread_array_2d, if no 64-bit number holds its elements or those of a
  // tile.
  tiling(std::size_t rows, std::size_t columns, layout by_row, layout by_column,
         std::uint32_t procs);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  std::size_t size() const noexcept { return rows_ * columns_; }  // elements
  std::uint32_t procs() const noexcept { return procs_; }
  std::size_t q() const noexcept { return q_; }
  std::size_t r() const noexcept { return r_; }
  std::size_t tile_rows() const noexcept { return layout::parts_of(rows_, q_); }
  std::size_t tile_columns() const noexcept { return layout::parts_of(columns_, r_); }
  std::size_t tile_elements() const noexcept { return q_ * r_; }

  // The process of the tile, and its position, from 0, among the tiles of that process.
  std::uint32_t owner(std::size_t ti, std::size_t tj) const noexcept {
    return static_cast<std::uint32_t>((ti * tile_columns() + tj) % procs_);
  }
  std::size_t slot(std::size_t ti, std::size_t tj) const noexcept {
    return (ti * tile_columns() + tj) / procs_;
  }
  // The most tiles that any process has.
  std::size_t slots() const noexcept {
    return layout::parts_of(tile_rows() * tile_columns(), procs_);
  }
  // The position of an element in the memory of its process. Every tile is stored row by row and
  // takes q * r elements, also where the rectangle ends inside it.
  std::size_t place(std::size_t i, std::size_t j) const noexcept {
    return slot(i / q_, j / r_) * tile_elements() + i % q_ * r_ + j % r_;
  }
  // The part of its row in its tile that element e < size() is in, where elements are numbered row
  // by row.
  element_run run(std::size_t e) const noexcept {
    const std::size_t i = e / columns_;
    const std::size_t tj = e % columns_ / r_;
    const std::size_t j = tj * r_;
    return {i * columns_ + j, detail::lesser(r_, columns_ - j), owner(i / q_, tj), place(i, j)};
  }
  // How many tiles `proc` owns.
  std::size_t tiles_on(std::uint32_t proc) const noexcept {
    return distribution(tile_rows() * tile_columns(), 1, procs_).size_on(proc);
  }
  // Whether both give every element the same owner and position.
  friend bool operator==(const tiling&, const tiling&) noexcept = default;

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::uint32_t procs_;
  std::size_t q_;
  std::size_t r_;
};

// A tile of this process, as ordinary memory, valid while its array lives. It owns nothing and may
// be copied. Checked builds throw Error for a row or column that it does not have.
template <class T>
class tile_view {
 public:
  tile_view(T* first, std::size_t rows, std::size_t columns, std::size_t stride) noexcept
      : first_(first), rows_(rows), columns_(columns), stride_(stride) {}

  std::size_t rows() const noexcept { return rows_; }        // at most q: fewer at the array's edge
  std::size_t columns() const noexcept { return columns_; }  // at most r, likewise
  std::size_t stride() const noexcept { return stride_; }    // elements from one row to the next
  T* data() const noexcept { return first_; }
  // Row `a` of the tile, contiguous; and element `b` of it.
  std::span<T> row(std::size_t a, am::Here where = {}) const {
    detail::check_local_index(a, rows_, {"tile_view::row", where});
    return {first_ + a * stride_, columns_};
  }
  // Row `a` again, so that tile[a][b] is element b of it.
  std::span<T> operator[](detail::Index a) const {
    return row(static_cast<std::size_t>(a.value), a.where);
  }
  T& operator()(std::size_t a, std::size_t b, am::Here where = {}) const {
    detail::check_local_index(a, rows_, {"tile_view, row", where});
    detail::check_local_index(b, columns_, {"tile_view, column", where});
    return first_[a * stride_ + b];
  }

 private:
  T* first_;
  std::size_t rows_;
  std::size_t columns_;
  std::size_t stride_;
};

namespace detail {
[[noreturn]] void refuse_tile(std::size_t ti, std::size_t tj, std::uint32_t owner,
                              am::SourceLocation where);
}

// A two-dimensional array over all processes, zero at first: Split-C's T X[v][w]::[q][r].
//
//   spread_array_2d<double> a(n, m);                                       elements in turn
//   spread_array_2d<double> b(n, m, blocked, blocked);                     about one tile each
//   spread_array_2d<double> c(n, m, block_cyclic(8), block_cyclic(16));    tiles of 8 by 16
//   auto x = spread_array_2d<int>::of_tiles(v, w, q, r);                   T X[v][w]::[q][r]
//
//   a(i, j) = 1;   for (auto [ti, tj] : c.my_tiles()) c.tile(ti, tj)(0, 0) = 1;
//   bulk_get(row, c.tile_pointer(ti, tj) + k * c.r());
//
// The process that owns each element of a 4 by 6 array, with 4 processes:
//
//   blocked, blocked            cyclic, cyclic              block_cyclic(2), block_cyclic(2)
//   tiles of 2 by 3             tiles of 1 by 1             tiles of 2 by 2
//   0 0 0 1 1 1                 0 1 2 3 0 1                 0 0 1 1 2 2
//   0 0 0 1 1 1                 2 3 0 1 2 3                 0 0 1 1 2 2
//   2 2 2 3 3 3                 0 1 2 3 0 1                 3 3 0 0 1 1
//   2 2 2 3 3 3                 2 3 0 1 2 3                 3 3 0 0 1 1
//
// The usual loop over what this process owns, by ordinary memory accesses:
//
//   for (auto [ti, tj] : b.my_tiles()) {
//     const tile_view<double> tile = b.tile(ti, tj);
//     for (std::size_t i = 0; i < tile.rows(); ++i)
//       for (double& x : tile.row(i)) x *= 2;
//   }
//
// The array is cut into tiles of q() by r() elements, numbered row by row; tile k is on process k
// mod procs(). Each is stored row by row, its rows r() elements apart, and takes q() * r() elements
// of memory, also at the edges where fewer are used.
//
// for_each_mine(b, [](std::size_t i, std::size_t j, double& x) { x *= 2; }) does this in one call
// (splitc/array/for_each.h); begin() and end() go over all elements, row by row, wherever they are.
//
// Lifetime, moving, threads and errors are those of spread_array. An element costs some more
// divisions than there; tile() and tile_pointer() are what inner loops use.
template <class T>
class spread_array_2d {
 public:
  using value_type = T;

  // `rows` by `columns` elements. `by_row` says how many rows a tile has, and `by_column` how many
  // columns: 1 if cyclic, b if block_cyclic(b); if blocked, so many that each process gets about
  // one tile (see tiling). Collective.
  spread_array_2d(std::size_t rows, std::size_t columns, layout by_row = cyclic,
                  layout by_column = cyclic, am::Here where = {})
      : map_(rows, columns, by_row, by_column, procs()),
        memory_(detail::product(map_.slots(), "tiles", procs(), "processes",
                                {"spread_array_2d", where}),
                map_.tile_elements(), where) {}
  // v by w tiles of q by r elements. Collective.
  static spread_array_2d of_tiles(std::size_t v, std::size_t w, std::size_t q, std::size_t r,
                                  am::Here where = {}) {
    const detail::Call call("spread_array_2d::of_tiles", where);
    return {detail::product(v, "tiles", q, "rows", call),
            detail::product(w, "tiles", r, "columns", call), block_cyclic(q), block_cyclic(r),
            where};
  }

  ~spread_array_2d() = default;                      // collective, unless moved from
  spread_array_2d(const spread_array_2d&) = delete;  // pass a const spread_array_2d<T>&
  // Those of a spread_array.
  spread_array_2d(spread_array_2d&& other) noexcept
      : map_(std::exchange(other.map_, {})), memory_(std::move(other.memory_)) {}
  spread_array_2d& operator=(spread_array_2d&& other) noexcept {
    map_ = std::exchange(other.map_, {});
    memory_ = std::move(other.memory_);
    return *this;
  }

  std::size_t rows() const noexcept { return map_.rows(); }
  std::size_t columns() const noexcept { return map_.columns(); }
  std::size_t q() const noexcept { return map_.q(); }  // rows of a tile
  std::size_t r() const noexcept { return map_.r(); }  // columns of a tile
  std::size_t tile_rows() const noexcept { return map_.tile_rows(); }
  std::size_t tile_columns() const noexcept { return map_.tile_columns(); }

  // The element in row i and column j, to be read or written; the pointer to it; and the process
  // that owns it. The first two throw Error, in every build, if there is none.
  global_ref<T> operator()(std::size_t i, std::size_t j, am::Here where = {}) const {
    return global_ref<T>(pointer(i, j, where), 0, where);
  }
  global_ptr<T> pointer(std::size_t i, std::size_t j, am::Here where = {}) const {
    detail::check_index(i, rows(), {"spread_array_2d, row", where});
    detail::check_index(j, columns(), {"spread_array_2d, column", where});
    return on(owner(i, j), where) + static_cast<std::ptrdiff_t>(map_.place(i, j));
  }
  std::uint32_t owner(std::size_t i, std::size_t j) const noexcept {
    return map_.owner(i / q(), j / r());
  }

  // Tile (ti, tj), ti < tile_rows() and tj < tile_columns(): the process that owns it; where it
  // begins, for bulk operations; and, if this process owns it, a view of it. The last two throw
  // Error, in every build, if there is none, and tile() if another process owns it.
  std::uint32_t tile_owner(std::size_t ti, std::size_t tj) const noexcept {
    return map_.owner(ti, tj);
  }
  global_ptr<T> tile_pointer(std::size_t ti, std::size_t tj, am::Here where = {}) const {
    check_tile(ti, tj, where);
    return on(map_.owner(ti, tj), where) +
           static_cast<std::ptrdiff_t>(map_.slot(ti, tj) * map_.tile_elements());
  }
  tile_view<T> tile(std::size_t ti, std::size_t tj, am::Here where = {}) const {
    check_tile(ti, tj, where);
    if (map_.owner(ti, tj) != my_proc()) detail::refuse_tile(ti, tj, map_.owner(ti, tj), where);
    return {memory_.mine().data() + map_.slot(ti, tj) * map_.tile_elements(),
            detail::lesser(q(), rows() - ti * q()), detail::lesser(r(), columns() - tj * r()), r()};
  }
  // The tiles that this process owns, as pairs (ti, tj).
  my_2d my_tiles() const { return {tile_rows(), tile_columns()}; }

  // The tiles of process `proc`, which are contiguous, q() * r() elements each.
  global_ptr<T> on(std::uint32_t proc, am::Here where = {}) const {
    return memory_.on(proc, where);
  }
  // Those of this process as ordinary memory, valid while the array lives. At the edges of the
  // array there are elements among them that no index has.
  std::span<T> mine() const noexcept { return memory_.mine(); }

  // All elements, row by row, wherever they are, for algorithms of std::ranges
  // (splitc/array/global_iterator.h).
  using iterator = global_iterator<T, tiling>;
  iterator begin() const noexcept { return {map_, memory_.offset(), 0}; }
  iterator end() const noexcept { return {map_, memory_.offset(), map_.size()}; }
  // Which process owns which element, for that arithmetic without the array.
  const tiling& map() const noexcept { return map_; }

 private:
  void check_tile(std::size_t ti, std::size_t tj, am::SourceLocation where) const {
    detail::check_index(ti, tile_rows(), {"spread_array_2d, row of tiles", where});
    detail::check_index(tj, tile_columns(), {"spread_array_2d, column of tiles", where});
  }

  tiling map_;
  spread_array<T> memory_;  // a block for each tile
};

}  // namespace splitc
