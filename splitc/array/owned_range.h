#pragma once

#include <cstddef>
#include <cstdint>

#include "splitc/array/layout.h"
#include "splitc/world/steps.h"

// What one process owns of an array, as ranges of input iterators: what spread_array::my_indices()
// and my_elements() give. They own nothing, and may be copied; any thread.

namespace splitc {

// The indices of a distribution that one process owns, ascending, as a range of input iterators. A
// step costs an addition, or two at the end of a block.
class owned_indices {
 public:
  class iterator : public detail::InputIterator<iterator, std::size_t> {
   public:
    using detail::InputIterator<iterator, std::size_t>::operator++;

    iterator() = default;
    iterator(const owned_indices& range, std::size_t l) noexcept
        : l_(l),
          index_(range.map_.global(range.proc_, l)),
          left_(range.map_.block() - 1),
          block_(range.map_.block()),
          skip_(block_ * (range.map_.procs() - 1) + 1) {}
    std::size_t operator*() const noexcept { return index_; }
    iterator& operator++() noexcept {
      ++l_;
      if (left_-- != 0) {
        ++index_;
      } else {  // over the blocks of the others
        index_ += skip_;
        left_ = block_ - 1;
      }
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.l_ == b.l_; }

   private:
    std::size_t l_ = 0;
    std::size_t index_ = 0;
    std::size_t left_ = 0;  // in this block, after index_
    std::size_t block_ = 1;
    std::size_t skip_ = 1;
  };

  // Those of `map` that process `proc` owns, which is less than map.procs().
  owned_indices(const distribution& map, std::uint32_t proc) noexcept : map_(map), proc_(proc) {}

  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }
  std::size_t size() const noexcept { return map_.size_on(proc_); }  // how many there are

 private:
  distribution map_;
  std::uint32_t proc_;
};

// An element that this process owns; `auto [i, x] = ...` makes x another name for it.
template <class T>
struct owned_element {
  std::size_t index;  // in the whole array
  T& value;
};

// The elements whose indices are an owned_indices, in this order. A step costs that of the indices
// and an addition.
template <class T>
class owned_elements {
 public:
  class iterator : public detail::InputIterator<iterator, owned_element<T>> {
   public:
    using detail::InputIterator<iterator, owned_element<T>>::operator++;

    iterator() = default;
    iterator(owned_indices::iterator index, T* element) noexcept
        : index_(index), element_(element) {}
    owned_element<T> operator*() const noexcept { return {*index_, *element_}; }
    iterator& operator++() noexcept {
      ++index_;
      ++element_;
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept {
      return a.element_ == b.element_;
    }

   private:
    owned_indices::iterator index_;
    T* element_ = nullptr;
  };

  // Those from `first` on, which lie one behind the other.
  owned_elements(const owned_indices& indices, T* first) noexcept
      : indices_(indices), first_(first) {}

  iterator begin() const noexcept { return {indices_.begin(), first_}; }
  iterator end() const noexcept { return {indices_.end(), first_ + size()}; }
  std::size_t size() const noexcept { return indices_.size(); }  // how many there are

 private:
  owned_indices indices_;
  T* first_;
};

}  // namespace splitc
