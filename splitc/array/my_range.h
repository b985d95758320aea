#pragma once

#include <cstddef>

#include "splitc/world/place.h"
#include "splitc/world/steps.h"

// The indices that this process owns in a cyclic layout, as ranges: Split-C's for_my_1d and
// for_my_2d.
//
//   for (std::size_t i : my_1d(n)) ...             i = my_proc(), my_proc() + procs(), ... < n
//   for (auto [i, j] : my_2d(n, m)) ...            all i < n, j < m with i * m + j owned that way
//
// With 3 processes my_1d(10) is 0 3 6 9 on process 0, 1 4 7 on process 1 and 2 5 8 on process 2:
// the indices that process owns of a spread_array of 10 elements, or of what all_spread_malloc(10)
// gave.
//
// Arithmetic inside run(), by any thread; nothing is communicated. For other layouts there are
// spread_array::my_indices() and spread_array_2d::my_tiles(). The iterators are input iterators,
// and stay valid without their range.

namespace splitc {

// Each procs()-th number from my_proc() on that is less than n, ascending.
class my_1d {
 public:
  class iterator : public detail::InputIterator<iterator, std::size_t> {
   public:
    using detail::InputIterator<iterator, std::size_t>::operator++;

    iterator() = default;
    iterator(std::size_t i, std::size_t step) noexcept : i_(i), step_(step) {}
    std::size_t operator*() const noexcept { return i_; }
    iterator& operator++() noexcept {
      i_ += step_;
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.i_ == b.i_; }

   private:
    std::size_t i_ = 0;
    std::size_t step_ = 1;
  };

  // Those below `n`, which may be 0. No memory is allocated.
  explicit my_1d(std::size_t n) noexcept
      : size_(n > my_proc() ? (n - my_proc() - 1) / procs() + 1 : 0) {}

  iterator begin() const noexcept { return {my_proc(), procs()}; }
  iterator end() const noexcept { return {my_proc() + size_ * procs(), procs()}; }
  // How many there are: n / procs(), rounded up or down.
  std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
};

// This process's elements of an n by m matrix, numbered row by row. An element of it is an index
// with members i, the row, and j, the column. A step costs two divisions.
class my_2d {
 public:
  // The place of an element in the matrix.
  struct index {
    std::size_t i;  // row
    std::size_t j;  // column
    friend bool operator==(const index&, const index&) = default;
  };

  class iterator : public detail::InputIterator<iterator, index> {
   public:
    using detail::InputIterator<iterator, index>::operator++;

    iterator() = default;
    iterator(my_1d::iterator at, std::size_t columns) noexcept : at_(at), columns_(columns) {}
    index operator*() const noexcept { return {*at_ / columns_, *at_ % columns_}; }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    my_1d::iterator at_;
    std::size_t columns_ = 1;
  };

  // The elements of a matrix of `n` rows and `m` columns. Throws Error if no 64-bit number holds n
  // * m.
  my_2d(std::size_t n, std::size_t m)
      : linear_(detail::product(n, "rows", m, "columns", "my_2d")), columns_(m) {}

  iterator begin() const noexcept { return {linear_.begin(), columns_}; }
  iterator end() const noexcept { return {linear_.end(), columns_}; }
  std::size_t size() const noexcept { return linear_.size(); }

 private:
  my_1d linear_;
  std::size_t columns_;
};

}  // namespace splitc
