#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "am/collective/choice.h"
#include "splitc/group/exchange.h"
#include "splitc/group/mail.h"
#include "splitc/group/plan.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

namespace splitc::detail {

class StartedGroupCall;

// What a process knows of some processes, itself among them, that make collective calls; all
// handles of a team share it.
//
// Thread rule: the world's thread.
class Group : public HasOwners {
 public:
  // `procs` by rank in the group. The number is the group's alone, and the same at all members.
  Group(std::uint64_t number, std::vector<std::uint32_t> procs);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(procs_.size()); }
  std::uint32_t proc(std::uint32_t rank) const noexcept { return procs_[rank]; }
  std::optional<std::uint32_t> rank_of(std::uint32_t proc) const noexcept;
  Inbox& inbox() noexcept { return inbox_; }

  // --- Its calls, one at a time.

  // A call that this process has made.
  struct Made {
    std::uint32_t number;
    std::uint32_t digest;
    const char* name = nullptr;
    std::uint64_t bytes;
    std::uint64_t kind;
    bool was_judged = false;  // has ended by a verdict

    CallText text() const noexcept;
  };
  // Notes one, and gives it a number.
  Made& begin_call(const GroupCall& call, const GroupPlan& plan) noexcept;
  // That of this number; nullptr: it has not been made yet, or long ago.
  const Made* made(std::uint32_t number) const noexcept {
    const Made& one = made_[number % kRemembered];
    return one.number == number && one.name != nullptr ? &one : nullptr;
  }
  bool is_latest(std::uint32_t call) const noexcept { return call == calls_; }
  bool is_to_come(std::uint32_t call) const noexcept {
    return static_cast<std::int32_t>(call - calls_) > 0;
  }
  // What this member does in one.
  const am::schedule::Schedule& schedule(const am::schedule::Call& call);

  bool is_job = false;  // of the calls that name no team
  bool left = false;    // an exception has left one
  // Of the one that is under way: kept, as are their capacities.
  std::vector<std::byte> scratch;
  std::vector<Exchange> exchanges;
  std::vector<PeerCount> counts;
  std::deque<SharedOwner<StartedGroupCall>> queue;  // started, in order

 private:
  // Whoever leaves a call early may be so many calls ahead of another member, who has to keep what
  // comes of these; then all meet.
  static constexpr std::uint32_t kAhead = 32;
  static constexpr std::uint32_t kRemembered = 2 * kAhead;
  struct Written {
    am::schedule::Call call;
    bool meets = false;  // first, in a barrier
    am::schedule::Schedule schedule;
  };

  const std::uint64_t number_;
  const std::vector<std::uint32_t> procs_;
  std::vector<std::uint32_t> by_proc_;  // ranks; empty: procs_ ascends
  std::uint32_t rank_;
  Inbox& inbox_;
  std::optional<am::schedule::Placement> placement_;  // once there has been a call
  std::uint32_t calls_ = 0;
  std::uint32_t ahead_ = 0;  // calls since the last one that was a barrier
  std::array<Made, kRemembered> made_{};
  std::deque<Written> written_;  // the latest first
};

}  // namespace splitc::detail
