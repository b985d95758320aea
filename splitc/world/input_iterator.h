#pragma once

#include <cstddef>
#include <span>  // also std::input_iterator_tag, which <iterator> has beside streams

namespace splitc::detail {

// What input iterators have in common that give each Value when they are followed. An Iterator that
// has this as its base adds operator*, ==, and ++ in front, and says `using Base::operator++`, as
// its own would hide the one here.
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

}  // namespace splitc::detail
