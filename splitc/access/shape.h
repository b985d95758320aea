#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/channel/strided.h"
#include "splitc/world/place.h"

// Which bytes an operation with many elements takes at either end of it, and copies of these.

namespace splitc::detail {

// Numbers of 4 or 8 bytes each, which need no alignment.
struct Indices {
  const void* first = nullptr;
  std::size_t count = 0;
  bool wide = false;  // 8

  std::size_t bytes() const noexcept { return count * (wide ? 8 : 4); }
  // Calls f(index), where index(i) is number i, of its own type.
  template <class F>
  auto visit(F&& f) const {
    const auto visit_as = [&]<class Index>(Index) {
      return f([from = static_cast<const std::byte*>(first)](std::size_t i) {
        Index index;
        std::memcpy(&index, from + i * sizeof index, sizeof index);
        return index;
      });
    };
    return wide ? visit_as(std::uint64_t()) : visit_as(std::uint32_t());
  }
};

// Bytes from some first one on, in an order: the rows of an am::Strided; or, if there is a list,
// the rows that it names, which begin at multiples of `row_stride`. `rows` is 0 then, so that
// nothing is left of an empty list.
struct Shape {
  am::Strided strided;
  Indices list;

  // Elements of an array, or rows of `run` bytes at multiples of `stride`.
  static Shape listed(std::uint64_t run, std::uint64_t stride, const Indices& list) noexcept {
    return {{.run = run, .rows = 0, .row_stride = stride}, list};
  }
  static Shape contiguous(std::uint64_t bytes) noexcept {
    return {am::Strided::contiguous(bytes), {}};
  }

  bool is_listed() const noexcept { return list.count != 0; }
  bool is_contiguous() const noexcept { return !is_listed() && strided.is_contiguous(); }
  std::uint64_t bytes() const noexcept {
    return is_listed() ? strided.run * list.count : strided.bytes();
  }
  // From the first byte to behind the last; 0 if there is none. Throws Error if no 64-bit number
  // holds it.
  std::uint64_t extent(Call call) const {
    return is_listed() ? listed_extent(call) : strided.extent();
  }

  // Copies `bytes` bytes from byte `at` of the order on, from or to the shape that begins at
  // `first`.
  void gather(std::byte* to, const std::byte* first, std::uint64_t at, std::uint64_t bytes) const;
  void scatter(std::byte* first, std::uint64_t at, const std::byte* from,
               std::uint64_t bytes) const;

 private:
  std::uint64_t listed_extent(Call call) const;
};

// Copies all bytes of one shape to those of another, which has as many. If one has a list the other
// is contiguous.
void copy(std::byte* to, const Shape& to_shape, const std::byte* from, const Shape& from_shape);

}  // namespace splitc::detail
