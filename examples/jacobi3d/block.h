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

// One layer of points along a face, as it lies in the memory of a block that has a layer of ghosts
// around it: planes of rows of runs of contiguous points. Strides in points.
struct Layer {
  std::size_t first;
  std::size_t run;
  std::size_t rows, row_stride;
  std::size_t planes, plane_stride;

  std::size_t points() const noexcept { return run * rows * planes; }
  // Calls f(place of the run's first point) for every run, in the order of memory.
  template <class F>
  void for_each_run(F&& f) const {
    for (std::size_t plane = 0; plane < planes; ++plane) {
      for (std::size_t row = 0; row < rows; ++row) {
        f(first + plane * plane_stride + row * row_stride);
      }
    }
  }
};
Layer outermost(const Size& size, std::uint32_t face) noexcept;  // points of the block itself
Layer ghosts(const Size& size, std::uint32_t face) noexcept;     // behind these: those of another

// Who has which part of a cube of n x n x n points that continues at its other end.
class Decomposition {
 public:
  Decomposition(std::size_t n, const Grid& grid) noexcept : n_(n), grid_(grid) {}

  std::size_t n() const noexcept { return n_; }
  Size begin(std::uint32_t proc) const noexcept;  // the first point
  Size size(std::uint32_t proc) const noexcept;
  std::uint32_t neighbour(std::uint32_t proc, std::uint32_t face) const noexcept;
  std::size_t largest_volume() const noexcept;  // of a block with its ghosts
  std::size_t largest_face() const noexcept;

 private:
  Grid place(std::uint32_t proc) const noexcept;

  std::size_t n_;
  Grid grid_;
};

// This process's part, twice: the values before and after an iteration, by turns. Every iteration
// replaces each point by the mean of itself and its six neighbours.
class Block {
 public:
  explicit Block(const Decomposition& whole);  // collective, and so is its end

  // The outermost layers of the values of `turn`, 0 or 1, must have come to the ghosts of the
  // neighbours first. Computes the values of the other turn.
  void step(unsigned turn);
  // Of the values of `turn` on this process.
  std::uint64_t checksum(unsigned turn) const;

  const Decomposition& whole() const noexcept { return whole_; }
  const Size& size() const noexcept { return size_; }
  std::uint32_t neighbour(std::uint32_t face) const noexcept {
    return whole_.neighbour(splitc::my_proc(), face);
  }
  double* values(unsigned turn) const noexcept { return values_.mine().data() + turn * volume_; }
  // The same of another process.
  splitc::global_ptr<double> values_of(std::uint32_t proc, unsigned turn) const {
    return values_.on(proc) + static_cast<std::ptrdiff_t>(turn * volume_);
  }

 private:
  template <class F>
  void for_each_point(F&& f) const;

  Decomposition whole_;
  Size size_;
  std::size_t volume_;  // what each turn has in every process
  splitc::spread_array<double> values_;
};

// What all iterations leave, computed by this process alone.
std::uint64_t serial_checksum(std::size_t n, std::uint32_t iterations);

}  // namespace jacobi3d
