#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "am/types/source_location.h"
#include "splitc/group/group.h"
#include "splitc/group/performer.h"
#include "splitc/group/plan.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"
#include "splitc/world/waiter.h"

namespace splitc::detail {

// A collective call that was started. It keeps its group.
class StartedGroupCall : public HasOwners {
 public:
  StartedGroupCall(SharedOwner<Group> group, const GroupCall& call, const GroupPlan& plan)
      : plan_(plan), group_(std::move(group)), name_(call) {}
  virtual ~StartedGroupCall() = default;
  StartedGroupCall(const StartedGroupCall&) = delete;
  StartedGroupCall& operator=(const StartedGroupCall&) = delete;

  bool done() const noexcept { return done_; }
  // They become ready when it is done.
  WaiterList& waiters() noexcept { return waiters_; }
  Call call() const noexcept { return name_; }
  Group& group() noexcept { return *group_; }

  // Polls until it has ended. Throws what it throws.
  void wait(am::SourceLocation where);
  // Nobody will wait for it any more.
  void drop() noexcept;

  // --- By Groups.
  // Its turn has come: as far as possible. True: it has ended.
  bool advance();
  // Whether what it waits for on a board has come.
  bool has_news() noexcept { return performer_ && performer_->has_news(); }
  // It will not end, as the job has.
  void give_up() noexcept;

 protected:
  GroupPlan plan_;

 private:
  void rethrow() {
    if (!thrown_) return;
    thrown_seen_ = true;
    std::rethrow_exception(thrown_);
  }
  // If nobody will hear of what it has thrown: that.
  std::exception_ptr orphan() const noexcept {
    return dropped_ && !thrown_seen_ ? thrown_ : nullptr;
  }
  void end() noexcept {
    done_ = true;
    waiters_.move_to(ready_waiters);
  }

  const SharedOwner<Group> group_;
  const GroupCall name_;
  std::optional<Performer> performer_;  // once it is under way
  std::exception_ptr thrown_;
  bool thrown_seen_ = false;  // by the caller of wait()
  bool dropped_ = false;      // nobody will wait() any more
  bool done_ = false;
  WaiterList waiters_;
};

// Puts it behind those of its group that were started before. Throws Error where none may be.
void start_group_call(const SharedOwner<StartedGroupCall>& call);

}  // namespace splitc::detail
