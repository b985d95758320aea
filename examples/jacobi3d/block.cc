#include "examples/jacobi3d/block.h"

#include <algorithm>
#include <vector>

namespace jacobi3d {
namespace {

using examples::fraction;
using examples::mark;

// A row of points and the four rows around it, with the points in front of it and behind.
struct Row {
  const double* at;
  const double *above, *below, *before, *behind;
  double left, right;
};

// The one place where values are computed, so that all agree to the last bit.
inline double mean(const Row& row, std::size_t k, double left, double right) noexcept {
  const double nearer = row.above[k] + row.before[k] + left;
  const double farther = row.below[k] + row.behind[k] + right;
  return (row.at[k] + nearer + farther) * (1.0 / 7);
}

void step_ends(const Row& row, std::size_t n, double* next) noexcept {
  next[0] = mean(row, 0, row.left, n == 1 ? row.right : row.at[1]);
  if (n > 1) next[n - 1] = mean(row, n - 1, row.at[n - 2], row.right);
}
void step_middle(const Row& row, std::size_t n, double* __restrict next) noexcept {
  for (std::size_t k = 1; k + 1 < n; ++k) next[k] = mean(row, k, row.at[k - 1], row.at[k + 1]);
}

// Of a whole block, whose ghosts are behind the points in `from`.
void step(const Size& size, const double* from, double* to, Part part) noexcept {
  const auto [planes, rows, n] = size;
  const double* ghosts[kFaces];
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    ghosts[face] = from + place_of_ghosts(size, face);
  }
  for (std::size_t i = 0; i < planes; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      const bool inside = i > 0 && i + 1 < planes && j > 0 && j + 1 < rows;
      if (part == Part::kInner && !inside) continue;
      const double* const at = from + (i * rows + j) * n;
      const Row row{.at = at,
                    .above = i == 0 ? ghosts[0] + j * n : at - rows * n,
                    .below = i + 1 == planes ? ghosts[1] + j * n : at + rows * n,
                    .before = j == 0 ? ghosts[2] + i * n : at - n,
                    .behind = j + 1 == rows ? ghosts[3] + i * n : at + n,
                    .left = ghosts[4][i * rows + j],
                    .right = ghosts[5][i * rows + j]};
      double* const next = to + (i * rows + j) * n;
      if (part != Part::kInner) step_ends(row, n, next);
      if (part != Part::kOuter || !inside) step_middle(row, n, next);
    }
  }
}

// Calls f(place in memory, number in the whole box) for the points of a part of it.
template <class F>
void for_each_point_of(const Size& begin, const Size& size, const Grid& whole, F&& f) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < size[0]; ++i) {
    for (std::size_t j = 0; j < size[1]; ++j) {
      const std::size_t number = ((begin[0] + i) * whole[1] + begin[1] + j) * whole[2] + begin[2];
      for (std::size_t k = 0; k < size[2]; ++k) f(at++, number + k);
    }
  }
}

}  // namespace

Layer outermost(const Size& size, std::uint32_t face) noexcept {
  const std::size_t plane = size[1] * size[2];
  const std::size_t last = face % 2 == 0 ? 0 : size[face / 2] - 1;
  switch (face / 2) {
    case 0: return {last * plane, plane, 1, plane};
    case 1: return {last * size[2], size[2], size[0], plane};
    default: return {last, 1, size[0] * size[1], size[2]};
  }
}

void pack(const double* values, const Layer& layer, double* to) noexcept {
  const double* from = values + layer.first;
  if (layer.run == 1) {
    for (std::size_t i = 0; i < layer.rows; ++i, from += layer.stride) to[i] = *from;
    return;
  }
  for (std::size_t row = 0; row < layer.rows; ++row, from += layer.stride, to += layer.run) {
    std::copy_n(from, layer.run, to);
  }
}

std::size_t volume(const Size& size) noexcept { return size[0] * size[1] * size[2]; }

std::size_t place_of_ghosts(const Size& size, std::uint32_t face) noexcept {
  std::size_t place = volume(size);
  for (std::uint32_t before = 0; before < face; ++before) {
    place += outermost(size, before).points();
  }
  return place;
}

Grid Decomposition::place(std::uint32_t proc) const noexcept {
  return {proc / (grid_[1] * grid_[2]), proc / grid_[2] % grid_[1], proc % grid_[2]};
}
Size Decomposition::begin(std::uint32_t proc) const noexcept {
  Size result;
  for (int d = 0; d < 3; ++d)
    result[d] = examples::part(points_[d], grid_[d], place(proc)[d]).begin;
  return result;
}
Size Decomposition::size(std::uint32_t proc) const noexcept {
  Size result;
  for (int d = 0; d < 3; ++d)
    result[d] = examples::part(points_[d], grid_[d], place(proc)[d]).size();
  return result;
}
std::uint32_t Decomposition::neighbour(std::uint32_t proc, std::uint32_t face) const noexcept {
  Grid at = place(proc);
  const std::uint32_t along = grid_[face / 2];
  at[face / 2] = (at[face / 2] + (face % 2 == 0 ? along - 1 : 1)) % along;
  return (at[0] * grid_[1] + at[1]) * grid_[2] + at[2];
}
std::size_t Decomposition::largest() const noexcept {
  std::size_t largest = 0;
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    largest = std::max(largest, place_of_ghosts(size(proc), kFaces));
  }
  return largest;
}

Block::Block(const Decomposition& whole)
    : whole_(whole),
      size_(whole.size(splitc::my_proc())),
      room_(whole.largest()),
      values_(splitc::procs(), 2 * room_) {
  for_each_point([&](std::size_t at, std::size_t number) { values(0)[at] = fraction(number); });
}

template <class F>
void Block::for_each_point(F&& f) const {
  for_each_point_of(whole_.begin(splitc::my_proc()), size_, whole_.points(), f);
}

splitc::global_ptr<double> Block::ghosts_beyond(unsigned turn, std::uint32_t face) const {
  const std::uint32_t to = neighbour(face);
  const std::size_t place = place_of_ghosts(whole_.size(to), opposite(face));
  return values_.on(to) + static_cast<std::ptrdiff_t>(turn * room_ + place);
}

void Block::step(unsigned turn, Part part) {
  jacobi3d::step(size_, values(turn), values(1 - turn), part);
}

std::uint64_t Block::checksum(unsigned turn) const {
  std::uint64_t sum = 0;
  for_each_point(
      [&](std::size_t at, std::size_t number) { sum += mark(number, values(turn)[at]); });
  return sum;
}

std::uint64_t serial_checksum(const Grid& points, std::uint32_t iterations) {
  const Size size{points[0], points[1], points[2]};
  std::vector<double> values(place_of_ghosts(size, kFaces));
  std::vector<double> next(values.size());
  for_each_point_of({}, size, points,
                    [&](std::size_t at, std::size_t number) { values[at] = fraction(number); });
  for (std::uint32_t i = 0; i < iterations; ++i) {
    for (std::uint32_t face = 0; face < kFaces; ++face) {  // the box is its own neighbour
      double* const ghosts = values.data() + place_of_ghosts(size, opposite(face));
      pack(values.data(), outermost(size, face), ghosts);
    }
    step(size, values.data(), next.data(), Part::kAll);
    values.swap(next);
  }
  std::uint64_t sum = 0;
  for_each_point_of({}, size, points,
                    [&](std::size_t at, std::size_t number) { sum += mark(number, values[at]); });
  return sum;
}

}  // namespace jacobi3d
