#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "splitc/access/global_ref.h"
#include "splitc/array/layout.h"
#include "splitc/world/steps.h"

namespace splitc {

// Goes over all elements of a distributed array in the order of their indices, wherever they are:
// what begin() and end() of spread arrays give.
//
//   on_one([&] {
//     std::ranges::sort(a);                            // by one process, through global pointers
//     const auto found = std::ranges::find(a, 7);      // found - a.begin() is its index
//     std::ranges::copy(a, local.begin());
//   });
//   for (double x : a) ...                             // reads every element
//
// A random-access iterator as std::ranges has them: *it is a global_ref<T>, with its cost, its
// errors and its thread rule, so an algorithm reads and writes element by element, and waits for
// each that is on another node. That is right for a few elements, or for one node. Where all
// processes have something to do, let each go over its own (for_each_mine(), mine()); to fetch many
// elements of another node, use bulk_get().
//
// Nothing here is collective, and there is no synchronisation in it: between what one process
// writes and another reads there is a barrier, as always.
//
// `Map` says where the elements are: distribution or tiling. The iterator has a copy of it, so it
// stays valid while the memory lives, also when the array moves. Moving it, and following it, costs
// an addition inside of a block; at another block a few integer divisions find the owner. The
// iterator at the end may not be followed: that throws the Error of a null pointer.
//
// `auto x = *it` makes another name for the element, not a copy, as with vector<bool>, and
// algorithms that want a T& (`[](double& x)`) do not compile: take `auto&& x`, or a value.
template <class T, class Map>
class global_iterator : public detail::Steps<global_iterator<T, Map>> {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = global_ref<T>;

  // To nothing: may be assigned to, and compared with others like it.
  global_iterator() = default;
  // To index `i`, at most map.size(), of an array whose elements begin at `offset` of each segment.
  global_iterator(const Map& map, std::uint64_t offset, std::size_t i) noexcept
      : map_(map), offset_(offset), index_(i) {
    find();
  }

  // The element; and the one n indices further. These two access nothing yet.
  global_ref<T> operator*() const noexcept {
    return global_ref<T>(run_, static_cast<std::ptrdiff_t>(index_ - first_));
  }
  global_ref<T> operator[](std::ptrdiff_t n) const noexcept { return *(*this + n); }
  // The pointer to it, whose arithmetic stays on that process.
  global_ptr<T> pointer_to() const noexcept { return &**this; }

  global_iterator& operator+=(std::ptrdiff_t n) noexcept {
    index_ += static_cast<std::size_t>(n);
    if (index_ - first_ >= length_) find();
    return *this;
  }
  // (The rest, -=, ++, --, it + n, n + it and it - n, is made of it.)

  // Elements from b to a, of the same array.
  friend std::ptrdiff_t operator-(const global_iterator& a, const global_iterator& b) noexcept {
    return static_cast<std::ptrdiff_t>(a.index_ - b.index_);
  }
  // By index; the two are of the same array.
  friend bool operator==(const global_iterator& a, const global_iterator& b) noexcept {
    return a.index_ == b.index_;
  }
  friend std::strong_ordering operator<=>(const global_iterator& a,
                                          const global_iterator& b) noexcept {
    return a.index_ <=> b.index_;
  }

  // For algorithms, which move elements through values of type T.
  friend value_type iter_move(const global_iterator& it) { return *it; }
  friend void iter_swap(const global_iterator& a, const global_iterator& b) { swap(*a, *b); }

 private:
  // The block that index_ is in; none at the end.
  void find() noexcept {
    if (index_ >= map_.size()) {
      first_ = index_;
      length_ = 0;
      run_ = nullptr;
      return;
    }
    const element_run run = map_.run(index_);
    first_ = run.first;
    length_ = run.length;
    run_ = global_ptr<T>(run.proc, offset_ + run.local * sizeof(T));
  }

  Map map_;
  std::uint64_t offset_ = 0;
  std::size_t index_ = 0;
  std::size_t first_ = 0;   // index of the first element of the block
  std::size_t length_ = 0;  // of the block
  global_ptr<T> run_;       // to its first element
};

}  // namespace splitc
