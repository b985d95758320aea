#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "splitc/team/box.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

namespace splitc::detail {

class StartedTeamCall;

// What a process knows of a team that it is in; all handles of the team share it.
//
// Thread rule: the world's thread.
class Group : public HasOwners {
 public:
  // `procs` by rank of the team, this process among them. The number is the team's alone, and the
  // same at all members.
  Group(std::uint64_t number, std::vector<std::uint32_t> procs);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(procs_.size()); }
  std::uint32_t rounds() const noexcept { return rounds_; }  // of a barrier: log2(size), rounded up
  std::uint32_t proc(std::uint32_t rank) const noexcept { return procs_[rank]; }
  std::optional<std::uint32_t> rank_of(std::uint32_t proc) const noexcept;
  TeamBox& box() noexcept { return box_; }

  // --- Of the call that is under way: one at a time.
  // The number of the next one. After the last one of 31 bits comes another that is even.
  std::uint32_t begin_call() noexcept {
    calls_ = calls_ == kLastCall ? 2 : calls_ + 1;
    return calls_;
  }
  bool left = false;                               // an exception has left one
  std::vector<std::byte> carried;                  // what its barrier carries, or it receives
  std::vector<std::byte> packed;                   // ... of which this is being sent
  std::deque<SharedOwner<StartedTeamCall>> queue;  // started, in order

 private:
  static constexpr std::uint32_t kLastCall = (std::uint32_t{1} << 31) - 1;

  const std::uint64_t number_;
  const std::vector<std::uint32_t> procs_;
  std::vector<std::uint32_t> by_proc_;  // ranks; empty: procs_ ascends
  std::uint32_t rank_;
  std::uint32_t rounds_;
  TeamBox& box_;
  std::uint32_t calls_ = 0;
};

}  // namespace splitc::detail
