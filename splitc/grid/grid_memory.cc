#include "splitc/grid/grid_memory.h"

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "splitc/access/bulk.h"
#include "splitc/array/spread_array.h"
#include "splitc/collective/barrier.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/world.h"

namespace splitc::detail {

namespace {

// Where the handle for a side and turn is shown.
std::uint64_t handle_offset(std::uint64_t handles, std::uint32_t direction, unsigned turn) {
  return handles + (2 * direction + turn) * sizeof(am::ChannelHandle);
}

}  // namespace

Halo::Halo(std::vector<HaloSide> sides, std::uint64_t handles, Call call)
    : maker_(call), sides_(std::move(sides)), ends_(sides_.size()) {
  am::Bundle& bundle = context().bundle;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const HaloSide& side = sides_[i];
    for (const unsigned turn : {0u, 1u}) {
      std::byte* const landing = mapped(my_proc(), side.landing + turn * side.room());
      ends_[i].in.emplace_back(bundle, std::span(landing, side.shape.bytes()),
                               [this, turn] { ++arrived_[turn]; });
      const std::uint64_t at = handle_offset(handles, side.direction, turn);
      *reinterpret_cast<am::ChannelHandle*>(mapped(my_proc(), at)) = ends_[i].in.back().handle();
    }
  }
  meet(call);  // all handles are there
  connect(handles, call);
}

void Halo::connect(std::uint64_t handles, Call call) {
  std::vector<std::array<am::ChannelHandle, 2>> theirs(sides_.size());
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const HaloSide& side = sides_[i];
    const std::uint64_t at = handle_offset(handles, side.opposite, 0);
    bulk_get(theirs[i].data(), global_ptr<const am::ChannelHandle>(side.neighbour, at),
             sizeof theirs[i], call.where);
  }
  sync();
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    for (const am::ChannelHandle& handle : theirs[i]) {
      ends_[i].out.emplace_back(context().bundle, handle);
      ends_[i].out.back().associate(sides_[i].cells, sides_[i].shape);
    }
  }
}

void Halo::start(Call call) {
  maker_.check(call, "a grid");
  if (started_) {
    refuse(call, "an exchange has been started already; call finish_exchange() for that one first");
  }
  started_ = true;
  for (Ends& ends : ends_) ends.out[turn_].put(call);
}

bool Halo::complete() const noexcept {
  if (arrived_[turn_] != sides_.size()) return false;
  for (const Ends& ends : ends_) {
    if (!ends.out[turn_].reusable()) return false;
  }
  return true;
}

void Halo::finish(Call call) {
  if (!started_) refuse(call, "no exchange has been started; call start_exchange() first");
  maker_.check(call, "a grid");
  check_may_wait(call);
  wait_polling([this] { return complete(); }, am::Wake::kRung,
               [&] {
                 return am::Reason{.call = call,
                                   .needs = "cells of neighbours",
                                   .have = arrived_[turn_],
                                   .wanted = sides_.size(),
                                   .unit = "sides",
                                   .needs_all = true};
               });
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const HaloSide& side = sides_[i];
    const std::byte* const landing = mapped(my_proc(), side.landing + turn_ * side.room());
    am::scatter(side.ghosts, side.shape, 0, landing, side.shape.bytes());
    ends_[i].in[turn_].ready(call);
  }
  arrived_[turn_] = 0;
  turn_ = 1 - turn_;
  started_ = false;
}

namespace {

// Directions are numbered in base 3, so that the sum of opposite ones is the same.
std::array<int, kMostDimensions> direction_of(std::uint32_t number) {
  std::array<int, kMostDimensions> direction;
  for (int& d : direction) {
    d = static_cast<int>(number % 3) - 1;
    number /= 3;
  }
  return direction;
}
constexpr std::uint32_t opposite(std::uint32_t number) { return Halo::kMostSides - 1 - number; }

// The sides that a block has: those with a face, and those with an edge or a corner.
std::vector<std::uint32_t> directions(std::size_t dimensions, bool corners) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t number = 0; number < Halo::kMostSides; ++number) {
    const auto direction = direction_of(number);
    std::size_t moved = 0, elsewhere = 0;
    for (std::size_t d = 0; d < kMostDimensions; ++d) {
      if (direction[d] != 0) ++(d < dimensions ? moved : elsewhere);
    }
    if (elsewhere == 0 && (moved == 1 || (moved > 1 && corners))) found.push_back(number);
  }
  return found;
}

// Halos of static grids: when these end the world has gone, and what channels are made of with it.
// Never destroyed, as that would end the channels.
std::vector<am::Owned<Halo>>& left_behind() {
  static auto& all = *new std::vector<am::Owned<Halo>>;
  return all;
}

std::string text(std::span<const std::ptrdiff_t> cell) {
  std::string text = "(";
  for (const std::ptrdiff_t i : cell) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
  return text + ")";
}

}  // namespace

GridMemory::GridMemory(const GridRequest& request, Call call)
    : whole_(request.cells, request.periodic, request.processes, request.ghosts, procs(), call),
      dimensions_(request.cells.size()),
      ghosts_(request.ghosts),
      element_(request.element) {
  // The first process has the largest block.
  mine_ = layout_of(0);
  const std::uint64_t block = product(mine_.elements, "cells", element_, "bytes", call);
  const std::uint64_t kind = whole_.fingerprint() ^ ghosts_ << 1 ^ std::uint64_t{request.corners};
  // Throws, in every process, before a number below is more than its type holds.
  if (block > place.segment_bytes) all_allocate(block, call, kind);
  std::uint64_t end = (block + 63) / 64 * 64;
  for (const std::uint32_t number : directions(dimensions_, request.corners)) {
    end += 2 * side(number).room();
  }
  handles_ = end;
  offset_ = all_allocate(end + Halo::kHandleBytes, call, kind);
  handles_ += offset_;
  mine_ = layout_of(my_proc());
  halo_ = std::make_unique<Halo>(sides(request.corners), handles_, call);
}

GridMemory::~GridMemory() {
  if (place.bases == nullptr) {
    left_behind().push_back(std::move(halo_));
    return;
  }
  at_end([this] {
    if (halo_->started()) halo_->finish("the end of a grid");
  });
  // Its barrier comes before the channels are closed: a neighbour may not have opened its ends yet.
  all_free_at_end(offset_, "the end of a grid");
}

BlockLayout GridMemory::layout(const std::array<std::size_t, kMostDimensions>& size) const {
  BlockLayout made{.size = size};
  for (std::size_t d = dimensions_; d-- > 0;) {
    made.stride[d] = static_cast<std::ptrdiff_t>(made.elements);
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
    // No more ghosts than cells, so this is at most three times as many.
    const std::size_t all = size[d] > kMost / 3 ? kMost : size[d] + 2 * ghosts_;
    made.elements = product(made.elements, "rows", all, "cells with ghosts", "grid");
    made.origin += static_cast<std::ptrdiff_t>(ghosts_) * made.stride[d];
  }
  return made;
}

BlockLayout GridMemory::layout_of(std::uint32_t proc) const {
  std::array<std::size_t, kMostDimensions> size{1, 1, 1};
  for (std::size_t d = 0; d < dimensions_; ++d) {
    size[d] = whole_.axis(d).size(whole_.place(proc, d));
  }
  return layout(size);
}

HaloSide GridMemory::side(std::uint32_t number) const {
  const auto direction = direction_of(number);
  HaloSide side{.direction = number, .opposite = opposite(number)};
  std::array<std::size_t, kMostDimensions> length{1, 1, 1};  // planes, rows, cells of a run
  std::array<std::size_t, kMostDimensions> stride{};
  std::ptrdiff_t cells = mine_.origin;
  std::ptrdiff_t ghosts = mine_.origin;
  const std::size_t outer = kMostDimensions - dimensions_;
  const auto width = static_cast<std::ptrdiff_t>(ghosts_);
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const auto size = static_cast<std::ptrdiff_t>(mine_.size[d]);
    length[outer + d] = direction[d] == 0 ? mine_.size[d] : ghosts_;
    stride[outer + d] = static_cast<std::size_t>(mine_.stride[d]) * element_;
    cells += mine_.stride[d] * (direction[d] > 0 ? size - width : 0);
    ghosts += mine_.stride[d] * (direction[d] == 0 ? 0 : direction[d] > 0 ? size : -width);
  }
  side.shape = {.run = length[2] * element_,
                .rows = static_cast<std::uint32_t>(length[1]),
                .planes = static_cast<std::uint32_t>(length[0]),
                .row_stride = stride[1],
                .plane_stride = stride[0]};
  if (offset_ == 0) return side;  // asked for its size only
  const auto bytes = static_cast<std::ptrdiff_t>(element_);
  side.cells = mapped(my_proc(), offset_) + cells * bytes;
  side.ghosts = mapped(my_proc(), offset_) + ghosts * bytes;
  return side;
}

std::vector<HaloSide> GridMemory::sides(bool corners) {
  std::vector<HaloSide> made;
  if (ghosts_ == 0) return made;
  std::uint64_t landing = offset_ + (mine_.elements * element_ + 63) / 64 * 64;
  for (const std::uint32_t number : directions(dimensions_, corners)) {
    const std::uint32_t neighbour = whole_.neighbour(my_proc(), direction_of(number));
    if (neighbour == kNoProc) continue;
    made.push_back(side(number));
    made.back().neighbour = neighbour;
    made.back().landing = landing;
    landing += 2 * made.back().room();
  }
  return made;
}

std::uint32_t GridMemory::owner(std::span<const std::size_t> cell) const noexcept {
  std::array<std::uint32_t, kMostDimensions> places{};
  for (std::size_t d = 0; d < dimensions_; ++d) places[d] = whole_.axis(d).part_of(cell[d]);
  return whole_.proc(places);
}

std::uint64_t GridMemory::bits_of_cell(std::span<const std::size_t> cell, Call call) const {
  for (std::size_t d = 0; d < dimensions_; ++d) check_index(cell[d], whole_.axis(d).cells, call);
  const std::uint32_t proc = owner(cell);
  const BlockLayout block = layout_of(proc);
  std::ptrdiff_t at = block.origin;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const std::size_t begin = whole_.axis(d).begin(whole_.place(proc, d));
    at += static_cast<std::ptrdiff_t>(cell[d] - begin) * block.stride[d];
  }
  return bits_of(proc, offset_ + static_cast<std::uint64_t>(at) * element_);
}

void refuse_cell(std::span<const std::ptrdiff_t> cell, std::span<const std::size_t> size,
                 std::size_t ghosts, Call call) {
  std::array<std::ptrdiff_t, kMostDimensions> first{}, last{};
  for (std::size_t d = 0; d < cell.size(); ++d) {
    first[d] = -static_cast<std::ptrdiff_t>(ghosts);
    last[d] = static_cast<std::ptrdiff_t>(size[d] + ghosts) - 1;
  }
  refuse(call, "there is no cell " + text(cell) + " in this block: with its ghosts it has " +
                   text(std::span(first).first(cell.size())) + " to " +
                   text(std::span(last).first(cell.size())) +
                   "; indices are relative to the first cell of the block");
}

}  // namespace splitc::detail
