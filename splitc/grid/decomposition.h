#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "splitc/world/place.h"

// Which process has which block of a grid: arithmetic only, any thread.

namespace splitc::detail {

inline constexpr std::size_t kMostDimensions = 3;

// One dimension of a grid: `cells` cells over `parts` processes.
struct Axis {
  std::size_t cells = 1;
  std::uint32_t parts = 1;
  bool periodic = false;

  // The block of the process at `number`: the first ones have one cell more where it does not come
  // out even.
  std::size_t begin(std::uint32_t number) const noexcept {
    const std::size_t more = cells % parts;
    return number * (cells / parts) + (number < more ? number : more);
  }
  std::size_t size(std::uint32_t number) const noexcept {
    return cells / parts + (number < cells % parts ? 1 : 0);
  }
  // The place whose block cell `i` < cells is in.
  std::uint32_t part_of(std::size_t i) const noexcept;
};

// A grid of one to three dimensions over all processes, numbered row by row. Dimensions that it
// does not have have one cell and one process.
class Decomposition {
 public:
  // `processes`: along each dimension; 0: to be chosen. Of all choices that leave every process at
  // least `width` cells, takes the one with the least surface of a block, and with the processes
  // along the first dimensions where several have that. Throws Error if there is none.
  Decomposition(std::span<const std::size_t> cells, std::span<const bool> periodic,
                std::span<const std::uint32_t> processes, std::size_t width, std::uint32_t procs,
                Call call);

  const Axis& axis(std::size_t d) const noexcept { return axes_[d]; }
  // The place of a process along each dimension, and the process of a place.
  std::uint32_t place(std::uint32_t proc, std::size_t d) const noexcept;
  std::uint32_t proc(const std::array<std::uint32_t, kMostDimensions>& places) const noexcept;
  // The process that lies so many blocks (-1, 0, 1) away from `proc` along each dimension; kNoProc
  // beyond an end that is not periodic.
  std::uint32_t neighbour(std::uint32_t proc, std::span<const int> direction) const noexcept;
  // A number in which two that differ will differ.
  std::uint64_t fingerprint() const noexcept;

 private:
  std::array<Axis, kMostDimensions> axes_;
};

}  // namespace splitc::detail
