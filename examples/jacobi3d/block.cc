#include "examples/jacobi3d/block.h"

#include <algorithm>
#include <vector>

namespace jacobi3d {
namespace {

using examples::fraction;
using examples::mark;

// How far apart the neighbours of each dimension are, in a block of `size` with its ghosts.
Size strides(const Size& size) noexcept { return {(size[1] + 2) * (size[2] + 2), size[2] + 2, 1}; }

std::size_t volume(const Size& size) noexcept {
  return (size[0] + 2) * (size[1] + 2) * (size[2] + 2);
}

// The layer at `place` of the dimension of `face`; ghosts are at 0 and behind the size.
Layer layer_at(const Size& size, std::uint32_t face, std::size_t place) noexcept {
  const Size stride = strides(size);
  switch (face / 2) {
    case 0: return {place * stride[0] + stride[1] + 1, size[2], size[1], stride[1], 1, 0};
    case 1: return {stride[0] + place * stride[1] + 1, size[2], size[0], stride[0], 1, 0};
    default: return {stride[0] + stride[1] + place, 1, size[1], stride[1], size[0], stride[0]};
  }
}

// The one place where values are computed, so that all agree to the last bit.
void step(const Size& size, const double* from, double* __restrict to) {
  const Size stride = strides(size);
  for (std::size_t i = 1; i <= size[0]; ++i) {
    for (std::size_t j = 1; j <= size[1]; ++j) {
      const double* const old = from + i * stride[0] + j * stride[1];
      double* const next = to + i * stride[0] + j * stride[1];
      for (std::size_t k = 1; k <= size[2]; ++k) {
        const double* const at = old + k;
        const double before = *(at - stride[0]) + *(at - stride[1]) + *(at - 1);
        const double behind = at[stride[0]] + at[stride[1]] + at[1];
        next[k] = (*at + before + behind) * (1.0 / 7);
      }
    }
  }
}

// Calls f(place in memory, number in the whole cube) for the points of a part of it.
template <class F>
void for_each_point_of(const Size& begin, const Size& size, std::size_t n, F&& f) {
  const Size stride = strides(size);
  for (std::size_t i = 0; i < size[0]; ++i) {
    for (std::size_t j = 0; j < size[1]; ++j) {
      const std::size_t at = (i + 1) * stride[0] + (j + 1) * stride[1] + 1;
      const std::size_t number = ((begin[0] + i) * n + begin[1] + j) * n + begin[2];
      for (std::size_t k = 0; k < size[2]; ++k) f(at + k, number + k);
    }
  }
}

// The ghosts of a block that is its own neighbour.
void copy_layer(const Size& size, std::uint32_t face, double* values) {
  std::size_t at = 0;
  std::vector<double> points(outermost(size, face).points());
  const std::size_t run = outermost(size, face).run;
  outermost(size, face).for_each_run([&](std::size_t first) {
    std::copy_n(values + first, run, points.begin() + static_cast<std::ptrdiff_t>(at));
    at += run;
  });
  at = 0;
  ghosts(size, opposite(face)).for_each_run([&](std::size_t first) {
    std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(at), run, values + first);
    at += run;
  });
}

}  // namespace

Layer outermost(const Size& size, std::uint32_t face) noexcept {
  return layer_at(size, face, face % 2 == 0 ? 1 : size[face / 2]);
}
Layer ghosts(const Size& size, std::uint32_t face) noexcept {
  return layer_at(size, face, face % 2 == 0 ? 0 : size[face / 2] + 1);
}

Grid Decomposition::place(std::uint32_t proc) const noexcept {
  return {proc / (grid_[1] * grid_[2]), proc / grid_[2] % grid_[1], proc % grid_[2]};
}
Size Decomposition::begin(std::uint32_t proc) const noexcept {
  Size result;
  for (int d = 0; d < 3; ++d) result[d] = examples::part(n_, grid_[d], place(proc)[d]).begin;
  return result;
}
Size Decomposition::size(std::uint32_t proc) const noexcept {
  Size result;
  for (int d = 0; d < 3; ++d) result[d] = examples::part(n_, grid_[d], place(proc)[d]).size();
  return result;
}
std::uint32_t Decomposition::neighbour(std::uint32_t proc, std::uint32_t face) const noexcept {
  Grid at = place(proc);
  const std::uint32_t along = grid_[face / 2];
  at[face / 2] = (at[face / 2] + (face % 2 == 0 ? along - 1 : 1)) % along;
  return (at[0] * grid_[1] + at[1]) * grid_[2] + at[2];
}
std::size_t Decomposition::largest_volume() const noexcept {
  std::size_t largest = 0;
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    largest = std::max(largest, volume(size(proc)));
  }
  return largest;
}
std::size_t Decomposition::largest_face() const noexcept {
  std::size_t largest = 0;
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    for (std::uint32_t face = 0; face < kFaces; ++face) {
      largest = std::max(largest, outermost(size(proc), face).points());
    }
  }
  return largest;
}

Block::Block(const Decomposition& whole)
    : whole_(whole),
      size_(whole.size(splitc::my_proc())),
      volume_(whole.largest_volume()),
      values_(splitc::procs(), 2 * volume_) {
  for_each_point([&](std::size_t at, std::size_t number) { values(0)[at] = fraction(number); });
}

template <class F>
void Block::for_each_point(F&& f) const {
  for_each_point_of(whole_.begin(splitc::my_proc()), size_, whole_.n(), f);
}

void Block::step(unsigned turn) { jacobi3d::step(size_, values(turn), values(1 - turn)); }

std::uint64_t Block::checksum(unsigned turn) const {
  std::uint64_t sum = 0;
  for_each_point(
      [&](std::size_t at, std::size_t number) { sum += mark(number, values(turn)[at]); });
  return sum;
}

std::uint64_t serial_checksum(std::size_t n, std::uint32_t iterations) {
  const Size size{n, n, n};
  std::vector<double> values(volume(size));
  std::vector<double> next(volume(size));
  for_each_point_of({}, size, n,
                    [&](std::size_t at, std::size_t number) { values[at] = fraction(number); });
  for (std::uint32_t i = 0; i < iterations; ++i) {
    for (std::uint32_t face = 0; face < kFaces; ++face) copy_layer(size, face, values.data());
    step(size, values.data(), next.data());
    values.swap(next);
  }
  std::uint64_t sum = 0;
  for_each_point_of({}, size, n,
                    [&](std::size_t at, std::size_t number) { sum += mark(number, values[at]); });
  return sum;
}

}  // namespace jacobi3d
