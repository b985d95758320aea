#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/channel/channel.h"
#include "am/channel/strided.h"
#include "am/types/types.h"
#include "splitc/world/context.h"
#include "splitc/world/place.h"

namespace splitc::detail {

// Which process has which block of a grid: arithmetic only, any thread.

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

// What a process exchanges with the neighbour in one direction: its cells at that side for the
// ghosts there, and the same the other way.
struct HaloSide {
  std::uint32_t neighbour = kNoProc;
  std::uint32_t direction = 0;  // number of this side here ...
  std::uint32_t opposite = 0;   // ... and of the side there at which it lies
  std::byte* cells = nullptr;   // the first of those that are sent
  std::byte* ghosts = nullptr;  // of those that are received
  am::Strided shape{};          // of both
  std::uint64_t landing = 0;    // offset in this process's segment of room for two of them

  // Room for one, in whole cache lines.
  std::uint64_t room() const noexcept { return (shape.bytes() + 63) / 64 * 64; }
};

// The exchanges of one grid, which use two receive buffers per side in turn. Cells are put into one
// of them, and copied to the ghosts when the program waits for them: so a neighbour that is one
// exchange ahead changes no ghosts that are still in use, and needs no notification that they are
// free.
//
// Why two are enough: a process that sends exchange k + 2 to a receive buffer has finished k + 1,
// so it has received what its neighbour sent for k + 1, which the neighbour did after finishing k,
// where it had emptied that buffer. Neighbours exchange in both directions, always.
class Halo {
 public:
  static constexpr std::uint32_t kMostSides = 27;
  // Bytes in every segment, in front of which `handles` points: what neighbours need to know.
  static constexpr std::uint64_t kHandleBytes = kMostSides * 2 * sizeof(am::ChannelHandle);

  // Collective. The handles are shown at `handles`, an offset in every segment.
  Halo(std::vector<HaloSide> sides, std::uint64_t handles, Call call);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // Sends the cells of all sides. Waits for nothing.
  void start(Call call);
  // Whether those of all neighbours are here, and the own ones have left.
  bool complete() const noexcept;
  // Waits until complete(), and fills the ghosts.
  void finish(Call call);
  bool started() const noexcept { return started_; }

 private:
  // The channels of one side, in use in even and in odd exchanges.
  struct Ends {
    std::vector<am::ReceiveChannel> in;
    std::vector<am::SendChannel> out;
  };

  void connect(std::uint64_t handles, Call call);

  const Maker maker_;
  const std::vector<HaloSide> sides_;
  std::vector<Ends> ends_;                // by side
  std::array<std::size_t, 2> arrived_{};  // by turn
  unsigned turn_ = 0;                     // of the exchange that is or will be started
  bool started_ = false;
};

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

  Halo& halo() const noexcept { return *halo_; }

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
