#include "am/channel/strided.h"

#include <algorithm>
#include <cstring>

namespace am {
namespace {

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

// A shape with the runs of `shape`, one behind the other.
Strided packed(const Strided& shape) noexcept {
  return {.run = shape.run,
          .rows = shape.rows,
          .planes = shape.planes,
          .row_stride = shape.run,
          .plane_stride = shape.run * shape.rows};
}

// Calls f(byte in the order from `at` on, byte in memory, bytes) for every run of a shape, or part
// of one, that `bytes` bytes from byte `at` on have.
template <class F>
void for_each_part(const Strided& shape, std::uint64_t at, std::uint64_t bytes, F&& f) {
  if (bytes == 0) return;
  if (shape.is_contiguous()) return f(0, at, bytes);
  const std::uint64_t stride = shape.row_stride;  // what f() writes does not change it
  with_size(shape.run, [&](auto run) {
    for (std::uint64_t done = 0; done != bytes;) {
      const std::uint64_t number = (at + done) / run;
      const std::uint64_t row = number % shape.rows;
      std::uint64_t offset = number / shape.rows * shape.plane_stride + row * stride;
      if (const std::uint64_t before = (at + done) % run; before != 0 || bytes - done < run) {
        const std::uint64_t part = std::min(run - before, bytes - done);
        f(done, offset + before, part);
        done += part;
        continue;
      }
      const std::uint64_t end = done + std::min(shape.rows - row, (bytes - done) / run) * run;
      for (; done != end; done += run, offset += stride) f(done, offset, run);
    }
  });
}

// Of shapes whose runs differ.
void copy_any(std::byte* to, const Strided& to_shape, const std::byte* from,
              const Strided& from_shape) {
  const std::uint64_t bytes = to_shape.bytes();
  for (std::uint64_t at = 0; at != bytes;) {
    const Strided::Piece target = to_shape.piece_at(at);
    const Strided::Piece source = from_shape.piece_at(at);
    const std::uint64_t part = std::min(target.bytes, source.bytes);
    std::memcpy(to + target.offset, from + source.offset, part);
    at += part;
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
    with_size(target.run, [&](auto run) { copy_runs(to, target, from, source, run); });
  } else {
    copy_any(to, to_shape, from, from_shape);
  }
}

void gather(std::byte* to, const std::byte* from, const Strided& shape, std::uint64_t at,
            std::uint64_t bytes) {
  for_each_part(shape, at, bytes, [&](std::uint64_t done, std::uint64_t offset, auto size) {
    std::memcpy(to + done, from + offset, size);
  });
}

void scatter(std::byte* to, const Strided& shape, std::uint64_t at, const std::byte* from,
             std::uint64_t bytes) {
  for_each_part(shape, at, bytes, [&](std::uint64_t done, std::uint64_t offset, auto size) {
    std::memcpy(to + offset, from + done, size);
  });
}

}  // namespace am
