#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace jacobi3d {

using examples::Grid;

// Points along each dimension. In memory the last one is contiguous.
using Size = std::array<std::size_t, 3>;

// The six faces of a block: two of each dimension, in front of it and behind.
inline constexpr std::uint32_t kFaces = 6;
constexpr std::uint32_t opposite(std::uint32_t face) noexcept { return face ^ 1; }

// The outermost points of a block along a face, as they lie in its memory: runs of contiguous
// points, `stride` points from one to the next. They are all points of a plane, rows, or points
// that all lie apart.
struct Layer {
  std::size_t first;
  std::size_t run;
  std::size_t rows;
  std::size_t stride;

  std::size_t points() const noexcept { return run * rows; }
};
Layer outermost(const Size& size, std::uint32_t face) noexcept;

// Copies them one behind the other.
void pack(const double* values, const Layer& layer, double* to) noexcept;

// Behind the points of a block are its ghosts, the outermost points of its neighbours: those of one
// face behind those of another, and each face as pack() would have it.
std::size_t volume(const Size& size) noexcept;  // without ghosts
std::size_t place_of_ghosts(const Size& size, std::uint32_t face) noexcept;

// Which process has which part of a periodic box of points.
class Decomposition {
 public:
  Decomposition(const Grid& points, const Grid& grid) noexcept : points_(points), grid_(grid) {}

  const Grid& points() const noexcept { return points_; }
  Size begin(std::uint32_t proc) const noexcept;  // the first point
  Size size(std::uint32_t proc) const noexcept;
  std::uint32_t neighbour(std::uint32_t proc, std::uint32_t face) const noexcept;
  std::size_t largest() const noexcept;  // points of a block with its ghosts

 private:
  Grid place(std::uint32_t proc) const noexcept;

  Grid points_;
  Grid grid_;
};

// Some of the points of a block: no ghosts are next to inner ones.
enum class Part { kAll, kInner, kOuter };

// This process's part, twice: the values before and after an iteration, by turns. Every iteration
// replaces each point by the mean of itself and its six neighbours.
class Block {
 public:
  explicit Block(const Decomposition& whole);  // collective, and so is its end

  // Computes the values of the other turn from those of `turn`, 0 or 1, whose ghosts have come
  // unless only inner ones are computed.
  void step(unsigned turn, Part part);
  // Of the values of `turn` on this process.
  std::uint64_t checksum(unsigned turn) const;

  const Decomposition& whole() const noexcept { return whole_; }
  const Size& size() const noexcept { return size_; }
  std::uint32_t neighbour(std::uint32_t face) const noexcept {
    return whole_.neighbour(splitc::my_proc(), face);
  }
  double* values(unsigned turn) const noexcept { return values_.mine().data() + turn * room_; }
  std::span<double> ghosts(unsigned turn, std::uint32_t face) const noexcept {
    return {values(turn) + place_of_ghosts(size_, face), outermost(size_, face).points()};
  }
  // The ghosts that the outermost points along `face` go to, at that neighbour.
  splitc::global_ptr<double> ghosts_beyond(unsigned turn, std::uint32_t face) const;

 private:
  template <class F>
  void for_each_point(F&& f) const;

  Decomposition whole_;
  Size size_;
  std::size_t room_;  // that each turn has in every process
  splitc::spread_array<double> values_;
};

// What all iterations leave, computed by this process alone.
std::uint64_t serial_checksum(const Grid& points, std::uint32_t iterations);

}  // namespace jacobi3d
