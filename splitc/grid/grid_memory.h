#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/types/types.h"
#include "splitc/grid/decomposition.h"
#include "splitc/world/place.h"

namespace splitc::detail {

class Halo;
struct HaloSide;

// What a grid is made of, whatever its elements are.
struct GridRequest {
  std::span<const std::size_t> cells;
  std::span<const bool> periodic;
  std::span<const std::uint32_t> processes;
  std::size_t ghosts;
  bool corners;
  std::size_t element;  // bytes
};

// The block of one process: where its cells are in memory, row by row, with `ghosts` more on either
// side of every dimension.
struct BlockLayout {
  std::array<std::size_t, kMostDimensions> size{1, 1, 1};       // own cells
  std::array<std::ptrdiff_t, kMostDimensions> stride{1, 1, 1};  // elements to the next cell
  std::ptrdiff_t origin = 0;  // elements before the first own cell
  std::size_t elements = 1;   // with the ghosts
};

// The memory of a grid in every segment, and its exchanges. Collective to make and to destroy.
class GridMemory {
 public:
  GridMemory(const GridRequest& request, Call call);
  ~GridMemory();
  GridMemory(const GridMemory&) = delete;
  GridMemory& operator=(const GridMemory&) = delete;

  const Decomposition& whole() const noexcept { return whole_; }
  std::size_t ghosts() const noexcept { return ghosts_; }
  const BlockLayout& mine() const noexcept { return mine_; }
  // The first own cell.
  std::byte* origin() const noexcept {
    return mapped(my_proc(), offset_) + mine_.origin * static_cast<std::ptrdiff_t>(element_);
  }
  BlockLayout layout_of(std::uint32_t proc) const;
  // The global pointer's bits of a cell of the whole grid. Throws Error if there is none.
  std::uint64_t bits_of_cell(std::span<const std::size_t> cell, Call call) const;
  std::uint32_t owner(std::span<const std::size_t> cell) const noexcept;

  // An exchange: see Halo.
  void start_exchange(Call call);
  bool exchanged() const noexcept;
  void finish_exchange(Call call);

 private:
  BlockLayout layout(const std::array<std::size_t, kMostDimensions>& size) const;
  HaloSide side(std::uint32_t number) const;
  std::vector<HaloSide> sides(bool corners);

  const Decomposition whole_;
  const std::size_t dimensions_;
  const std::size_t ghosts_;
  const std::size_t element_;
  BlockLayout mine_;
  std::uint64_t offset_ = 0;  // of the block, the landing places and the handles, in every segment
  std::uint64_t handles_ = 0;
  am::Owned<Halo> halo_;
};

// Throws Error: the block has no such cell, which would be `ghosts` away from it at most.
[[noreturn]] void refuse_cell(std::span<const std::ptrdiff_t> cell,
                              std::span<const std::size_t> size, std::size_t ghosts, Call call);

}  // namespace splitc::detail
