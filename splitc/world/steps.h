#pragma once

#include <cstddef>
#include <span>  // also std::input_iterator_tag, which <iterator> has beside streams

// What pointers and iterators have in common, made of the one step that each has of its own.

namespace splitc::detail {

// Input iterators that give each Value when they are followed. An Iterator that has this as its
// base adds operator*, ==, and ++ in front, and says `using Base::operator++`, as its own would
// hide the one here.
template <class Iterator, class Value>
class InputIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = const Value*;
  using reference = Value;

  Iterator operator++(int) noexcept {
    auto& self = static_cast<Iterator&>(*this);
    const Iterator before = self;
    ++self;
    return before;
  }
};

// The arithmetic of a Pointer that has this as its base, and adds `+= n`, of either sign. (It
// cannot be compared, lest a pointer without == were equal to all others.)
template <class Pointer>
class Steps {
 public:
  constexpr Pointer& operator-=(std::ptrdiff_t n) { return self() += negated(n); }
  constexpr Pointer& operator++() { return self() += 1; }
  constexpr Pointer& operator--() { return self() += -1; }
  constexpr Pointer operator++(int) {
    const Pointer before = self();
    self() += 1;
    return before;
  }
  constexpr Pointer operator--(int) {
    const Pointer before = self();
    self() += -1;
    return before;
  }
  friend constexpr Pointer operator+(Pointer p, std::ptrdiff_t n) { return p += n; }
  friend constexpr Pointer operator+(std::ptrdiff_t n, Pointer p) { return p += n; }
  friend constexpr Pointer operator-(Pointer p, std::ptrdiff_t n) { return p += negated(n); }

 private:
  // The least number, whose opposite there is none of, stays what it is, which `+=` refuses as
  // well.
  static constexpr std::ptrdiff_t negated(std::ptrdiff_t n) noexcept {
    return static_cast<std::ptrdiff_t>(-static_cast<std::size_t>(n));
  }
  constexpr Pointer& self() noexcept { return static_cast<Pointer&>(*this); }
};

}  // namespace splitc::detail
