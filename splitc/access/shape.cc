#include "splitc/access/shape.h"

#include <algorithm>

namespace splitc::detail {
namespace {

// Calls f(byte from `at` on, byte in memory, bytes) for the rows of a list, of which the first and
// the last may be there in part.
template <class F>
void for_each_listed(const Shape& shape, std::uint64_t at, std::uint64_t bytes, F&& f) {
  const std::uint64_t stride = shape.strided.row_stride;
  shape.list.visit([&](auto index) {
    am::with_size(shape.strided.run, [&](auto run) {
      std::uint64_t i = at == 0 ? 0 : at / run;
      const auto place = [&] { return index(i++) * stride; };
      std::uint64_t done = 0;
      if (const std::uint64_t before = at - i * run; before != 0) {
        done = std::min(run - before, bytes);
        f(0, place() + before, done);
      }
      for (; done + run <= bytes; done += run) f(done, place(), run);
      if (done < bytes) f(done, place(), bytes - done);
    });
  });
}

}  // namespace

std::uint64_t Shape::listed_extent(Call call) const {
  const std::uint64_t largest = list.visit([&](auto index) {
    auto most = index(0);
    for (std::size_t i = 1; i < list.count; ++i) most = std::max(most, index(i));
    return std::uint64_t{most};
  });
  std::uint64_t extent = 0;
  if (__builtin_mul_overflow(largest, strided.row_stride, &extent) ||
      __builtin_add_overflow(extent, strided.run, &extent)) {
    refuse_product(largest, "elements", strided.run, "bytes", call);
  }
  return extent;
}

void Shape::gather(std::byte* to, const std::byte* first, std::uint64_t at,
                   std::uint64_t bytes) const {
  if (!is_listed()) return am::gather(to, first, strided, at, bytes);
  for_each_listed(*this, at, bytes, [&](std::uint64_t done, std::uint64_t place, auto size) {
    std::memcpy(to + done, first + place, size);
  });
}

void Shape::scatter(std::byte* first, std::uint64_t at, const std::byte* from,
                    std::uint64_t bytes) const {
  if (!is_listed()) return am::scatter(first, strided, at, from, bytes);
  for_each_listed(*this, at, bytes, [&](std::uint64_t done, std::uint64_t place, auto size) {
    std::memcpy(first + place, from + done, size);
  });
}

void copy(std::byte* to, const Shape& to_shape, const std::byte* from, const Shape& from_shape) {
  if (to_shape.is_listed()) return to_shape.scatter(to, 0, from, from_shape.bytes());
  if (from_shape.is_listed()) return from_shape.gather(to, from, 0, to_shape.bytes());
  am::copy(to, to_shape.strided, from, from_shape.strided);
}

}  // namespace splitc::detail
