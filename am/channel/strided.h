#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace am {

// Which bytes a transfer takes, from some first one on: runs of equal length at equal distances. A
// row of a matrix is one run; a column is as many runs as there are rows; a face of a 3-D array is
// one run, a plane of runs, or runs in both directions. They have an order: run by run, row by row.
struct Strided {
  std::uint64_t run = 0;           // bytes of one run
  std::uint32_t rows = 1;          // runs of a plane
  std::uint32_t planes = 1;        // planes
  std::uint64_t row_stride = 0;    // bytes from one run to the next of its plane
  std::uint64_t plane_stride = 0;  // bytes from one plane to the next

  static constexpr Strided contiguous(std::uint64_t bytes) noexcept { return {.run = bytes}; }

  constexpr std::uint64_t bytes() const noexcept { return run * rows * planes; }
  // In one piece.
  constexpr bool is_contiguous() const noexcept {
    return (rows <= 1 || row_stride == run) && (planes <= 1 || plane_stride == run * rows);
  }
  // From the first byte to behind the last; 0 if there is none.
  constexpr std::uint64_t extent() const noexcept {
    if (bytes() == 0) return 0;
    return (planes - 1) * plane_stride + (rows - 1) * row_stride + run;
  }
  // Whether all of it, with whatever numbers it was made, lies in `room` bytes.
  constexpr bool fits(std::uint64_t room) const noexcept {
    std::uint64_t all = 0, last_row = 0, last_plane = 0, end = 0;
    if (__builtin_mul_overflow(run, std::uint64_t{rows} * planes, &all)) return false;
    if (all == 0) return true;
    return !__builtin_mul_overflow(rows - 1, row_stride, &last_row) &&
           !__builtin_mul_overflow(planes - 1, plane_stride, &last_plane) &&
           !__builtin_add_overflow(last_row, last_plane, &end) &&
           !__builtin_add_overflow(end, run, &end) && end <= room;
  }
  // Where byte `at` of the order lies, and how many bytes are in one piece from there on.
  struct Piece {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  constexpr Piece piece_at(std::uint64_t at) const noexcept {
    if (is_contiguous()) return {at, bytes() - at};
    const std::uint64_t number = at / run;
    const std::uint64_t in_run = at % run;
    return {number / rows * plane_stride + number % rows * row_stride + in_run, run - in_run};
  }
  bool operator==(const Strided&) const = default;
};

// Copies all bytes of one shape to the bytes of another, in their order. The shapes have equally
// many bytes and do not overlap. Any thread.
void copy(std::byte* to, const Strided& to_shape, const std::byte* from, const Strided& from_shape);

// Copies `bytes` bytes, from byte `at` of the order on, where one side is in one piece.
void gather(std::byte* to, const std::byte* from, const Strided& shape, std::uint64_t at,
            std::uint64_t bytes);
void scatter(std::byte* to, const Strided& shape, std::uint64_t at, const std::byte* from,
             std::uint64_t bytes);

// Calls f(size) with a number that is known when this is compiled, if there is one: then a copy of
// `size` bytes is a load and a store.
template <class F>
[[gnu::always_inline]] inline void with_size(std::uint64_t size, F&& f) {
  switch (size) {
    case 1: return f(std::integral_constant<std::uint64_t, 1>());
    case 2: return f(std::integral_constant<std::uint64_t, 2>());
    case 4: return f(std::integral_constant<std::uint64_t, 4>());
    case 8: return f(std::integral_constant<std::uint64_t, 8>());
    case 16: return f(std::integral_constant<std::uint64_t, 16>());
    default: return f(size);
  }
}

}  // namespace am
