#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "am/collective/choice.h"
#include "splitc/group/boards.h"
#include "splitc/group/exchange.h"
#include "splitc/group/mail.h"
#include "splitc/group/plan.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"
#include "splitc/world/shared_owner.h"

namespace splitc::detail {

class StartedGroupCall;

// What a process knows of some processes, itself among them, that make collective calls; all
// handles of a team share it.
//
// Thread rule: one thread at a time makes its calls, or what Groups::lock() guards is held.
class Group : public HasOwners {
 public:
  // `procs` by rank in the group, and their boards. The number is the group's alone, and the same
  // at all members.
  Group(std::uint64_t number, std::vector<std::uint32_t> procs, std::vector<BoardName> boards);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(procs_.size()); }
  std::uint32_t proc(std::uint32_t rank) const noexcept { return procs_[rank]; }
  std::optional<std::uint32_t> rank_of(std::uint32_t proc) const noexcept;
  Inbox& inbox() noexcept { return inbox_; }

  // The ranks of the other members of this node. Whether all of them, and this one, have a board;
  // then that of a member of this node.
  const std::vector<std::uint32_t>& near() const noexcept { return near_; }
  bool is_on_one_node() const noexcept { return near_.size() + 1 == procs_.size(); }
  bool has_boards() const noexcept { return !boards_.empty(); }
  NodeBoard& board(std::uint32_t rank) const noexcept { return *boards_[rank]; }
  // The first of those of this node, itself among them.
  std::uint32_t first_near() const noexcept { return first_near_; }
  NodeBoard& first_board() const noexcept { return *boards_[first_near_]; }
  // Whether its processes of this node share cores.
  bool is_crowded() const noexcept { return is_crowded_; }
  // Sends what this member has queued now, without waiting for its next poll.
  void flush() const;
  // The boards of the other members of this node, or that of member `rank`.
  std::vector<Boards::Member> near_boards(std::uint32_t rank) const;

  // --- Its calls, one at a time.

  // A call that this process has made.
  struct Made {
    std::uint32_t number;
    std::uint32_t digest;
    std::uint32_t history;  // a digest of this one and those since the last barrier
    bool is_a_barrier = false;
    bool was_judged = false;  // has ended by a verdict
    const char* name = nullptr;
    std::uint64_t bytes;
    std::uint64_t kind;
    am::SourceLocation where = {};

    CallText text() const noexcept;
  };
  // Notes one, and gives it a number.
  Made& begin_call(const GroupCall& call, const GroupPlan& plan) noexcept;
  // A barrier() of all, which does not compare the calls.
  void begin_barrier(const GroupCall& call) noexcept;
  // That of this number; nullptr: it has not been made yet, or long ago.
  const Made* made(std::uint32_t number) const noexcept {
    const Made& one = made_[number % kRemembered];
    return one.number == number && one.name != nullptr ? &one : nullptr;
  }
  // The digests of the call of this number and of those before it, as far back as its history goes.
  std::vector<std::uint32_t> digests(std::uint32_t call) const;
  bool is_latest(std::uint32_t call) const noexcept { return call == calls_; }
  bool is_to_come(std::uint32_t call) const noexcept {
    return static_cast<std::int32_t>(call - calls_) > 0;
  }
  // What this member does in one: what the plan says, or what is chosen for its call.
  const am::schedule::Schedule& schedule(const GroupPlan& plan);
  // Whether many bytes are sent in it, as it is no barrier, before their receiver asks for them.
  bool goes_unasked() const noexcept { return goes_unasked_; }
  // Where the bytes of an item of it are to be copied to on this member's board; kNoRoom: they are
  // few, or too many.
  static constexpr std::uint32_t kNoRoom = ~std::uint32_t{0};
  std::uint32_t copied_at(std::uint32_t item) const noexcept { return copied_at_[item]; }
  // Members have made different calls, so the latest call of this member ends, unless this member
  // has left it already. Its next call is, or begins with, a barrier, which notifies members that
  // have not heard of the verdict (Performer::suspect()), before what they have published for
  // another call can be taken for part of this one.
  void judge(const Verdict& verdict) noexcept;
  // The latest of these, and the latest call that it has ended.
  const std::optional<Verdict>& verdict() const noexcept { return verdict_; }
  std::uint32_t judged_through() const noexcept { return judged_through_; }
  // Whether a verdict that has ended the call `through` elsewhere is about a call that this member
  // has made, and new to it.
  bool is_news(const Verdict& verdict, std::uint32_t through) const noexcept {
    const std::uint32_t here = is_to_come(through) ? calls_ : through;
    return !is_to_come(verdict.call) &&
           (!verdict_ || static_cast<std::int32_t>(here - judged_through_) > 0);
  }

  // No member has passed a barrier of the group since: some may still read what was published
  // before.
  bool is_unsettled = false;
  bool is_job = false;  // of the calls that name no team
  bool left = false;    // an exception has left one
  // State of the current call. It is kept between calls for its capacity.
  std::vector<std::byte> scratch;
  std::vector<Exchange> exchanges;
  std::vector<PeerCount> counts;
  std::deque<SharedOwner<StartedGroupCall>> queue;  // started, in order

 private:
  // A member that leaves calls early may be so many calls ahead of another, which has to keep what
  // arrives for these; then all synchronize.
  static constexpr std::uint32_t kAhead = NodeBoard::kCalls - 8;
  static constexpr std::uint32_t kRemembered = 128;
  // A call that is no barrier sends so many bytes unasked, of all members together, and several do;
  // those that have not come to it keep them. Then all synchronize. (A broadcast of 16, 64 KiB to
  // one other process over TCP: asked for 28, 35 us; unasked 11, 24.)
  static constexpr std::uint64_t kUnasked = 1 << 20;
  struct Written {
    am::schedule::Call call;
    bool meets = false;  // first, in a barrier
    am::schedule::Schedule schedule;
  };

  Made& note(const GroupCall& call, const GroupPlan& plan) noexcept;
  void passed_barrier() noexcept;
  const Written& written(const am::schedule::Call& call, bool meets);
  const am::schedule::Schedule& chosen(const am::schedule::Call& call);
  void place_items(const am::schedule::Schedule& schedule) noexcept;

  const std::uint64_t number_;
  const std::vector<std::uint32_t> procs_;
  const std::vector<BoardName> board_names_;
  std::vector<std::uint32_t> near_;
  std::vector<NodeBoard*> boards_;
  std::uint32_t first_near_ = 0;
  bool is_crowded_ = false;
  std::vector<std::uint32_t> by_proc_;  // ranks; empty: procs_ ascends
  std::uint32_t rank_;
  Inbox& inbox_;
  std::optional<am::schedule::Placement> placement_;  // once there has been a call
  std::uint32_t calls_ = 0;
  std::uint32_t ahead_ = 0;    // calls since the last one that was a barrier,
  std::uint64_t unasked_ = 0;  // ... and bytes that they have sent unasked
  bool goes_unasked_ = false;
  std::uint32_t digest_ = 0;  // of these, of all together
  // After a verdict: not that of a member which has left the call unaware, even if by a barrier.
  static constexpr std::uint32_t kJudged = 1;
  // Those since the last barrier use one half of the boards, and those before it the other one,
  // which some members may still read.
  unsigned half_ = 0;
  std::uint32_t used_ = 0;  // bytes of it
  std::array<std::uint32_t, NodeBoard::kItems> copied_at_{};
  std::array<Made, kRemembered> made_{};
  std::optional<Verdict> verdict_;
  std::uint32_t judged_through_ = 0;
  std::deque<Written> written_;  // the latest first
};

}  // namespace splitc::detail
