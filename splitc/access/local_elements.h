#pragma once

#include <cstddef>
#include <cstdint>

#include "am/channel/strided.h"
#include "splitc/world/place.h"

// What operations with many elements say of the elements of this process, and of lists of elements.

namespace splitc::detail {

// Elements of this process in an order: those of a shape, one after the other, or those of an array
// whose numbers a list gives.
struct LocalElements {
  std::byte* first = nullptr;
  am::Strided shape;                     // without a list
  const std::uint64_t* order = nullptr;  // the list
  std::size_t element = 0;               // bytes, with a list

  // Copies `bytes` bytes from byte `at` of the order on.
  void gather(std::byte* to, std::uint64_t at, std::size_t bytes) const;
  void scatter(std::uint64_t at, const std::byte* from, std::size_t bytes) const;
};

// Throws Error: the call was given so many local elements for another number of global ones.
[[noreturn]] void refuse_sizes(std::uint64_t local, std::uint64_t global, Call call);

// Numbers of elements or bytes, of 4 or 8 bytes each.
struct Indices {
  const void* first;
  std::size_t count;
  bool wide;  // 8
};

}  // namespace splitc::detail
