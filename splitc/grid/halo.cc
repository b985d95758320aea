#include "splitc/grid/halo.h"

#include <span>
#include <utility>

#include "splitc/access/bulk.h"
#include "splitc/collective/barrier.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// Where the handle for a side and turn is shown.
std::uint64_t handle_offset(std::uint64_t handles, std::uint32_t direction, unsigned turn) {
  return handles + (2 * direction + turn) * sizeof(am::ChannelHandle);
}

}  // namespace

Halo::Halo(std::vector<HaloSide> sides, std::uint64_t handles, Call call)
    : sides_(std::move(sides)), ends_(sides_.size()) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const HaloSide& side = sides_[i];
    for (const unsigned turn : {0u, 1u}) {
      std::byte* const landing = mapped(my_proc(), side.landing + turn * side.room());
      ends_[i].in.emplace_back(world().bundle(), std::span(landing, side.shape.bytes()),
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
      ends_[i].out.emplace_back(world().bundle(), handle);
      ends_[i].out.back().associate(sides_[i].cells, sides_[i].shape);
    }
  }
}

void Halo::start(Call call) {
  if (started_) {
    refuse(call, "an exchange has been started already; call finish_exchange() for that one first");
  }
  started_ = true;
  for (Ends& ends : ends_) ends.out[turn_].put();
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
  check_may_wait(call);
  world().bundle().wait_until([this] { return complete(); }, am::Wake::kRung,
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
    ends_[i].in[turn_].ready();
  }
  arrived_[turn_] = 0;
  turn_ = 1 - turn_;
  started_ = false;
}

}  // namespace splitc::detail
