#include "am/channel/strided.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace am {
namespace {

// Walks over the bytes of a shape, in their order.
class Walk {
 public:
  Walk(const Strided& shape, std::uint64_t at) noexcept : shape_(shape) {
    if (shape.bytes() == 0) return;
    in_run_ = at % shape.run;
    row_ = at / shape.run % shape.rows;
    plane_ = at / shape.run / shape.rows;
  }
  // Where the next byte lies, and how many lie behind it in one piece.
  std::uint64_t offset() const noexcept {
    return plane_ * shape_.plane_stride + row_ * shape_.row_stride + in_run_;
  }
  std::uint64_t left() const noexcept { return shape_.run - in_run_; }
  // At most left().
  void advance(std::uint64_t bytes) noexcept {
    in_run_ += bytes;
    if (in_run_ != shape_.run) return;
    in_run_ = 0;
    if (++row_ != shape_.rows) return;
    row_ = 0;
    ++plane_;
  }

 private:
  const Strided shape_;
  std::uint64_t in_run_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t plane_ = 0;
};

// Runs of one length; a number that is known when this is compiled makes a run a load and a store.
template <class Run>
void copy_runs(std::byte* to, const Strided& to_shape, const std::byte* from,
               const Strided& from_shape, Run run) {
  for (std::uint32_t plane = 0; plane < to_shape.planes; ++plane) {
    std::byte* at = to + plane * to_shape.plane_stride;
    const std::byte* source = from + plane * from_shape.plane_stride;
    for (std::uint32_t row = 0; row < to_shape.rows; ++row) {
      std::memcpy(at, source, run);
      at += to_shape.row_stride;
      source += from_shape.row_stride;
    }
  }
}

// Calls f(run) with a number that is known when this is compiled, if there is one for that length.
template <class F>
void with_run(std::uint64_t run, F&& f) {
  switch (run) {
    case 4: return f(std::integral_constant<std::uint64_t, 4>());
    case 8: return f(std::integral_constant<std::uint64_t, 8>());
    case 16: return f(std::integral_constant<std::uint64_t, 16>());
    default: return f(run);
  }
}

// The same runs as `shape` has, one behind the other.
Strided packed(const Strided& shape) noexcept {
  return {.run = shape.run,
          .rows = shape.rows,
          .planes = shape.planes,
          .row_stride = shape.run,
          .plane_stride = shape.run * shape.rows};
}

// Whole runs.
bool is_runs(const Strided& shape, std::uint64_t at, std::uint64_t bytes) noexcept {
  return at % shape.run == 0 && bytes % shape.run == 0;
}

// Calls f(byte in the order from `at` on, byte in memory) for every run of `bytes` bytes.
template <class Run, class F>
void for_each_run(const Strided& shape, std::uint64_t at, std::uint64_t bytes, Run run, F&& f) {
  std::uint64_t flat = 0;
  while (flat != bytes) {
    const std::uint64_t number = (at + flat) / run;
    const std::uint64_t row = number % shape.rows;
    std::uint64_t offset = number / shape.rows * shape.plane_stride + row * shape.row_stride;
    const std::uint64_t end = std::min(bytes, flat + (shape.rows - row) * run);
    for (; flat != end; flat += run, offset += shape.row_stride) f(flat, offset);
  }
}

// One side: a shape from some byte on, and from which byte of its order.
struct Side {
  const Strided& shape;
  std::uint64_t at;
};

void copy_any(std::byte* to, const Side& to_side, const std::byte* from, const Side& from_side,
              std::uint64_t bytes) {
  Walk target(to_side.shape, to_side.at);
  Walk source(from_side.shape, from_side.at);
  while (bytes != 0) {
    const std::uint64_t piece = std::min({target.left(), source.left(), bytes});
    std::memcpy(to + target.offset(), from + source.offset(), piece);
    target.advance(piece);
    source.advance(piece);
    bytes -= piece;
  }
}

}  // namespace

void copy(std::byte* to, const Strided& to_shape, const std::byte* from,
          const Strided& from_shape) {
  const std::uint64_t bytes = to_shape.bytes();
  if (bytes == 0) return;
  const bool to_packed = to_shape.is_contiguous();
  const bool from_packed = from_shape.is_contiguous();
  if (to_packed && from_packed) {
    std::memcpy(to, from, bytes);
    return;
  }
  const Strided target = to_packed ? packed(from_shape) : to_shape;
  const Strided source = from_packed ? packed(to_shape) : from_shape;
  if (target.run == source.run && target.rows == source.rows) {
    with_run(target.run, [&](auto run) { copy_runs(to, target, from, source, run); });
  } else {
    copy_any(to, {to_shape, 0}, from, {from_shape, 0}, bytes);
  }
}

void gather(std::byte* to, const std::byte* from, const Strided& shape, std::uint64_t at,
            std::uint64_t bytes) {
  if (bytes == 0) return;
  if (shape.is_contiguous()) {
    std::memcpy(to, from + at, bytes);
  } else if (is_runs(shape, at, bytes)) {
    with_run(shape.run, [&](auto run) {
      for_each_run(shape, at, bytes, run, [&](std::uint64_t flat, std::uint64_t offset) {
        std::memcpy(to + flat, from + offset, run);
      });
    });
  } else {
    copy_any(to, {Strided::contiguous(bytes), 0}, from, {shape, at}, bytes);
  }
}

void scatter(std::byte* to, const Strided& shape, std::uint64_t at, const std::byte* from,
             std::uint64_t bytes) {
  if (bytes == 0) return;
  if (shape.is_contiguous()) {
    std::memcpy(to + at, from, bytes);
  } else if (is_runs(shape, at, bytes)) {
    with_run(shape.run, [&](auto run) {
      for_each_run(shape, at, bytes, run, [&](std::uint64_t flat, std::uint64_t offset) {
        std::memcpy(to + offset, from + flat, run);
      });
    });
  } else {
    copy_any(to, {shape, at}, from, {Strided::contiguous(bytes), 0}, bytes);
  }
}

}  // namespace am
