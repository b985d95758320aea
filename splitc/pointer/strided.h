#pragma once

#include <cstddef>
#include <cstdint>

#include "am/channel/strided.h"
#include "splitc/world/place.h"

namespace splitc {

// Which elements of an array a call takes, from some first one on: runs of consecutive elements at
// equal distances, rows of runs, planes of rows. All numbers are elements.
//
//   of double a[nz][ny][nx], from                 the shape
//   n elements in a row       &a[z][y][x]         {.run = n}
//   a column of a plane       &a[z][0][x]         {.rows = ny, .row_stride = nx}
//   a block of h x w          &a[z][y][x]         {.run = w, .rows = h, .row_stride = nx}
//   the face x = 0            &a[0][0][0]         {.rows = ny, .planes = nz,
//                                                  .row_stride = nx, .plane_stride = ny * nx}
//
// They have an order: run by run, row by row, plane by plane.
struct strided {
  std::uint64_t run = 1;           // consecutive elements
  std::uint32_t rows = 1;          // runs of a plane
  std::uint32_t planes = 1;        // planes
  std::uint64_t row_stride = 0;    // elements from one run to the next of its plane
  std::uint64_t plane_stride = 0;  // elements from one plane to the next

  // Elements that it takes.
  constexpr std::uint64_t size() const noexcept { return run * rows * planes; }
};

namespace detail {

// For elements of so many bytes. Throws Error if no 64-bit number holds how far it reaches.
am::Strided in_bytes(const strided& s, std::size_t element, Call call);

}  // namespace detail
}  // namespace splitc
