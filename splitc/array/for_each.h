#pragma once

#include <cstddef>
#include <cstdint>

#include "splitc/array/spread_array.h"
#include "splitc/array/spread_array_2d.h"

// Owner-computes loops: every process goes over its own elements, as ordinary memory.
//
//   for_each_mine(a, [](std::size_t i, double& x) { x = f(i); });
//   for_each_mine(b, [](std::size_t i, std::size_t j, double& x) { x = g(i, j); });
//   for_each_mine(y, x, [&](std::size_t, double& yi, double& xi) { yi += c * xi; });
//
// For every layout; indices are those in the whole array. Elements come in the order in which they
// lie in memory: ascending in a spread_array; tile by tile, row by row in a spread_array_2d. The
// loop is inlined, and the innermost one goes over consecutive elements with a counter: it is as
// fast as the loop that one would write for this layout, and vectorised where that is (`./run
// ranges` compares).
//
// The form with two arrays gives the elements of the same index. Both are laid out alike, so that
// they are on the same process: throws Error otherwise.
//
// Not collective, and without any synchronisation: put a barrier() between it and what other
// processes read. Communicates nothing, unless f does. Any thread; f may throw.

namespace splitc {
namespace detail {

// Calls f(position in the memory of `proc`, index) for every index of `map` that `proc` owns.
template <class F>
void for_each_position(const distribution& map, std::uint32_t proc, F&& f) {
  const std::size_t n = map.size_on(proc);
  const std::size_t block = map.block();
  const std::size_t procs = map.procs();
  if (block == 1) {
    for (std::size_t l = 0; l < n; ++l) f(l, l * procs + proc);
    return;
  }
  std::size_t index = proc * block;
  for (std::size_t first = 0; first < n; first += block, index += procs * block) {
    const std::size_t length = detail::lesser(block, n - first);
    for (std::size_t k = 0; k < length; ++k) f(first + k, index + k);
  }
}

// Calls f(position of its first element, ti, tj) for every tile that `proc` owns.
template <class F>
void for_each_tile(const tiling& map, std::uint32_t proc, F&& f) {
  const std::size_t rows = map.tile_rows();
  const std::size_t columns = map.tile_columns();
  if (columns == 0) return;
  std::size_t ti = proc / columns;
  std::size_t tj = proc % columns;
  const std::size_t rows_on = map.procs() / columns;
  const std::size_t columns_on = map.procs() % columns;
  for (std::size_t at = 0; ti < rows; at += map.tile_elements()) {
    f(at, ti, tj);
    ti += rows_on;
    tj += columns_on;
    if (tj >= columns) {
      tj -= columns;
      ++ti;
    }
  }
}

// Calls f(position in the memory of `proc`, row, column) for every element of `map` that it owns.
template <class F>
void for_each_position(const tiling& map, std::uint32_t proc, F&& f) {
  const std::size_t q = map.q();
  const std::size_t r = map.r();
  if (map.tile_elements() == 1) return for_each_tile(map, proc, f);
  for_each_tile(map, proc, [&](std::size_t at, std::size_t ti, std::size_t tj) {
    const std::size_t i = ti * q;
    const std::size_t j = tj * r;
    const std::size_t rows = detail::lesser(q, map.rows() - i);
    const std::size_t columns = detail::lesser(r, map.columns() - j);
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t b = 0; b < columns; ++b) f(at + a * r + b, i + a, j + b);
    }
  });
}

// Calls f(span) for all own elements of the array, in as few pieces as there are.
template <class T, class F>
void for_each_piece(const spread_array<T>& a, F&& f) {
  f(a.mine());
}
template <class T, class F>
void for_each_piece(const spread_array_2d<T>& a, F&& f) {
  const tiling& map = a.map();
  const std::size_t q = map.q();
  const std::size_t r = map.r();
  if (map.rows() % q == 0 && map.columns() % r == 0) {  // nothing but elements
    return f(a.mine().first(map.tiles_on(my_proc()) * map.tile_elements()));
  }
  for_each_tile(map, my_proc(), [&](std::size_t at, std::size_t ti, std::size_t tj) {
    const std::size_t rows = detail::lesser(q, map.rows() - ti * q);
    const std::size_t columns = detail::lesser(r, map.columns() - tj * r);
    for (std::size_t i = 0; i < rows; ++i) f(a.mine().subspan(at + i * r, columns));
  });
}

// Takes arrays, and what has one as its base.
template <class T>
void take_spread(const spread_array<T>& a);
template <class T>
void take_spread(const spread_array_2d<T>& a);

// Throw Error: the two are not laid out alike.
[[noreturn]] void refuse_layouts(const distribution& a, const distribution& b, Call call);
[[noreturn]] void refuse_layouts(const tiling& a, const tiling& b, Call call);

}  // namespace detail

// Arrays over all processes: spread_array and spread_array_2d.
template <class A>
concept spread = requires(const A& a) {
  detail::take_spread(a);
};

// Calls f(i, x), or f(i, j, x), for every element that this process owns; x is a T&.
template <spread Array, class F>
void for_each_mine(const Array& array, F&& f) {
  auto* const mine = array.mine().data();
  constexpr bool kTakes = std::is_invocable_v<F&, std::size_t, decltype(*mine)> ||
                          std::is_invocable_v<F&, std::size_t, std::size_t, decltype(*mine)>;
  static_assert(kTakes,
                "for_each_mine(a, f): f takes (i, x), or (i, j, x) of an array of two dimensions");
  if constexpr (kTakes)
    detail::for_each_position(array.map(), my_proc(),
                              [&f, mine](std::size_t at, auto... i) { f(i..., mine[at]); });
}

// Calls f(i, x, y), or f(i, j, x, y), with the elements of both arrays. They may be the same.
template <spread A, spread B, class F>
void for_each_mine(const A& a, const B& b, F&& f, am::Here where = {}) {
  if (a.map() != b.map()) detail::refuse_layouts(a.map(), b.map(), {"for_each_mine", where});
  auto* const x = a.mine().data();
  auto* const y = b.mine().data();
  detail::for_each_position(a.map(), my_proc(),
                            [&f, x, y](std::size_t at, auto... i) { f(i..., x[at], y[at]); });
}

}  // namespace splitc
