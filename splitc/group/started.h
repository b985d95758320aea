#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/group/group.h"
#include "splitc/group/performer.h"
#include "splitc/group/plan.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"
#include "splitc/world/waiter.h"
#include "splitc/world/world.h"

namespace splitc {
namespace detail {

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
  // What the call has thrown, if it was dropped and will not be waited for.
  std::exception_ptr orphan() const noexcept {
    return dropped_ && !thrown_seen_ ? thrown_ : nullptr;
  }
  void end() noexcept {
    done_ = true;
    waiters_.move_to(my_tasks->ready);
  }

  const SharedOwner<Group> group_;
  const GroupCall name_;
  std::optional<Performer> performer_;  // once it has begun
  std::exception_ptr thrown_;
  bool thrown_seen_ = false;  // by the caller of wait()
  bool dropped_ = false;      // wait() will not be called any more
  bool done_ = false;
  WaiterList waiters_;
};

// Puts it behind those of its group that were started before. Throws Error where none may be.
void start_group_call(const SharedOwner<StartedGroupCall>& call);

}  // namespace detail

// A collective call that was started, of which wait() returns a T or nothing
// (splitc/collective/started.h). It may be moved. One that is dropped goes on all the same, before
// the program ends; what it throws comes out of the next call of its team, or of the job, or the
// end of the program.
template <class T = void>
class started {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, bool, T>;

  started(detail::SharedOwner<detail::StartedGroupCall> call, std::optional<Value>& result) noexcept
      : call_(std::move(call)), result_(&result) {}
  ~started() {
    if (call_ != nullptr) call_->drop();
  }
  started(started&&) noexcept = default;
  started& operator=(started&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(result_, other.result_);
    return *this;
  }

  // Whether it has ended, so that wait() returns at once. Polls once if not, and never waits;
  // throws what a handler throws. Two names of one thing.
  [[nodiscard]] bool ready() const {
    if (!ended()) poll();  // tasks go on
    return ended();
  }
  [[nodiscard]] bool try_wait() const { return ready(); }
  // Polls until it has ended; once. Throws Error as the call of its name does, or if it has been
  // waited for already, and what `op` throws.
  T wait(am::Here where = {}) {
    if (call_ == nullptr) detail::refuse({"started::wait", where}, "there is nothing to wait for");
    call_->wait(where);
    const detail::SharedOwner<detail::StartedGroupCall> call = std::move(call_);
    if constexpr (!std::is_void_v<T>) return std::move(**result_);
  }
  // wait(), by the name that other operations have for it.
  T result(am::Here where = {}) { return wait(where); }

  // For the library. Whether it has ended; nullptr: it has been waited for.
  bool ended() const noexcept { return call_ == nullptr || call_->done(); }
  detail::StartedGroupCall* call() const noexcept { return call_.get(); }

 private:
  detail::SharedOwner<detail::StartedGroupCall> call_;
  std::optional<Value>* result_;  // of it
};

namespace detail {

// One of the value `x`, with its result.
template <class X, class Value>
class StartedValue : public StartedGroupCall {
 public:
  StartedValue(const OfGroup& of, const GroupPlan& plan, X x, Value room)
      : StartedGroupCall(of.group, of.call, plan), result(std::move(room)), x_(std::move(x)) {
    plan_.input = bytes_of(x_);
    if constexpr (std::is_same_v<Value, std::vector<X>>) {
      plan_.output = reinterpret_cast<std::byte*>(result->data());
    } else {
      plan_.output = writable_bytes_of(*result);
    }
  }
  std::optional<Value> result;

 private:
  X x_;
};

// One that works on the spans of its caller.
class StartedSpans : public StartedGroupCall {
 public:
  StartedSpans(const OfGroup& of, const GroupPlan& plan)
      : StartedGroupCall(of.group, of.call, plan) {}
  std::optional<bool> result = true;
};

// One that combines, and keeps its operation.
template <class Base, class Op>
class StartedReduction final : public Base {
 public:
  template <class... Args>
  StartedReduction(const Combine& combine, Op op, Args&&... args)
      : Base(std::forward<Args>(args)...), op_(std::move(op)), combine_(combine) {
    combine_.op = &op_;
    this->plan_.combine = &combine_;
  }

 private:
  Op op_;
  Combine combine_;
};

template <class R, class Made>
started<R> start_made(Made* made) {
  const SharedOwner<Made> owner(made);
  start_group_call(owner);
  return {owner, made->result};
}
inline started<> start_spans(const OfGroup& of, const GroupPlan& plan) {
  return start_made<void>(new StartedSpans(of, plan));
}
inline started<> start_group_barrier(const OfGroup& of) { return start_spans(of, {}); }
template <class T>
started<T> start_group_bcast(const OfGroup& of, const T& x, std::uint32_t root) {
  T copy = x;
  bcast_plan(of, std::as_writable_bytes(std::span(&copy, 1)), root, type_of<T>());
  const GroupPlan plan = value_plan(Collective::kBroadcast, x, nullptr, nullptr, root);
  return start_made<T>(new StartedValue<T, T>(of, plan, x, x));
}
template <class T, class Op>
started<T> start_group_reduce(const OfGroup& of, const T& x, Op op) {
  using Made = StartedReduction<StartedValue<T, T>, Op>;
  const GroupPlan plan = value_plan(Collective::kAllReduce, x, nullptr, nullptr);
  return start_made<T>(new Made(combine_by<T>(op), op, of, plan, x, x));
}
template <class T>
started<std::vector<T>> start_group_gather(const OfGroup& of, const T& x) {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  const GroupPlan plan = value_plan(Collective::kAllGather, x, nullptr, nullptr);
  return start_made<std::vector<T>>(
      new StartedValue<T, std::vector<T>>(of, plan, x, std::vector<T>(of.size(), x)));
}
template <class T, class Op>
started<> start_group_reduce(const OfGroup& of, std::span<const T> mine, std::span<T> result,
                             Op op) {
  using Made = StartedReduction<StartedSpans, Op>;
  const Combine combine = combine_by<T>(op);
  const GroupPlan plan =
      reduce_plan(of, std::as_bytes(mine), std::as_writable_bytes(result), combine);
  return start_made<void>(new Made(combine, std::move(op), of, plan));
}

}  // namespace detail
}  // namespace splitc
