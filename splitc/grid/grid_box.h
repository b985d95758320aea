// grid/ is grids of cells over all processes, each with a block and copies of the cells around it.
// It may use world/, pointer/, access/ and collective/, and the channels of am/.
#pragma once

#include <array>
#include <cstddef>

#include "splitc/world/steps.h"

namespace splitc {

// A cell, by one number for each dimension; `auto [i, j] = index` takes it apart.
template <std::size_t D>
using grid_index = std::array<std::ptrdiff_t, D>;

// The cells from `first` to before `last` in every dimension: a line, a rectangle, a cuboid. Plain
// numbers; any thread.
//
//   for (auto [i, j] : box) ...                  a range of input iterators, row by row
//   box.for_each([](auto i, auto j) { ... });    the same cells, in nested loops: faster
template <std::size_t D>
struct grid_box {
  static_assert(D >= 1 && D <= 3, "grids have one, two or three dimensions");

  grid_index<D> first{};
  grid_index<D> last{};

  // Goes over the cells; the last index changes fastest.
  class iterator : public detail::InputIterator<iterator, grid_index<D>> {
   public:
    using detail::InputIterator<iterator, grid_index<D>>::operator++;

    iterator() = default;
    iterator(const grid_box& box, const grid_index<D>& at) noexcept : box_(box), at_(at) {}
    grid_index<D> operator*() const noexcept { return at_; }
    iterator& operator++() noexcept {
      for (std::size_t d = D - 1; d > 0; --d) {
        if (++at_[d] < box_.last[d]) return *this;
        at_[d] = box_.first[d];
      }
      ++at_[0];
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    grid_box box_;
    grid_index<D> at_{};
  };

  iterator begin() const noexcept { return {*this, empty() ? end_index() : first}; }
  iterator end() const noexcept { return {*this, end_index()}; }

  // Cells along dimension `d`, at least 0, and of all of it.
  std::size_t length(std::size_t d) const noexcept {
    return last[d] > first[d] ? static_cast<std::size_t>(last[d] - first[d]) : 0;
  }
  std::size_t size() const noexcept {
    std::size_t cells = 1;
    for (std::size_t d = 0; d < D; ++d) cells *= length(d);
    return cells;
  }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const grid_index<D>& at) const noexcept {
    for (std::size_t d = 0; d < D; ++d) {
      if (at[d] < first[d] || at[d] >= last[d]) return false;
    }
    return true;
  }
  friend bool operator==(const grid_box&, const grid_box&) = default;

  // Calls f(i), f(i, j) or f(i, j, k) for every cell, in the same order.
  template <class F>
  void for_each(F&& f) const {
    for_each_row([&](auto... outer) {
      for (std::ptrdiff_t k = first[D - 1]; k < last[D - 1]; ++k) f(outer..., k);
    });
  }
  // Calls f(), f(i) or f(i, j) for every row: all but the last index.
  template <class F>
  void for_each_row(F&& f) const {
    if constexpr (D == 1) {
      f();
    } else {
      for (std::ptrdiff_t i = first[0]; i < last[0]; ++i) {
        if constexpr (D == 2) {
          f(i);
        } else {
          for (std::ptrdiff_t j = first[1]; j < last[1]; ++j) f(i, j);
        }
      }
    }
  }

 private:
  grid_index<D> end_index() const noexcept {
    grid_index<D> end = first;
    if (end[0] < last[0]) end[0] = last[0];
    return end;
  }
};

}  // namespace splitc
