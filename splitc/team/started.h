#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "splitc/collective/started.h"
#include "splitc/team/exchange.h"
#include "splitc/team/group.h"
#include "splitc/world/shared_owner.h"

namespace splitc::detail {

// A call of a team that was started. It keeps the team.
class StartedTeamCall : public AnyStarted {
 public:
  StartedTeamCall(SharedOwner<Group> group, const TeamCall& call, const TeamPlan& plan)
      : AnyStarted(call), plan_(plan), group_(std::move(group)), name_(call) {}

  void wait(am::SourceLocation where) override;
  void drop() noexcept override;

  Group& group() noexcept { return *group_; }
  // Its turn has come: as far as possible. True: it has ended.
  bool advance();
  // It will not end, as the job has.
  void give_up() noexcept;

 protected:
  // Takes what the exchange has brought.
  virtual void take(const Exchange&) {}

  TeamPlan plan_;

 private:
  const SharedOwner<Group> group_;
  const TeamCall name_;
  std::optional<Exchange> exchange_;  // once it is under way
};

// One that has a result: take_(exchange, x), of what this member has given, if it is a value.
template <class X, class T, class Take>
class StartedTeamValue final : public StartedTeamCall {
 public:
  StartedTeamValue(SharedOwner<Group> group, const TeamCall& call, const TeamPlan& plan, X x,
                   Take take)
      : StartedTeamCall(std::move(group), call, plan), x_(std::move(x)), take_(std::move(take)) {
    plan_.from = reinterpret_cast<const std::byte*>(&x_);
    if (plan_.how == TeamPlan::How::kBroadcast) plan_.to = reinterpret_cast<std::byte*>(&x_);
  }

 private:
  void take(const Exchange& all) override { result.emplace(take_(all, x_)); }

  X x_;
  Take take_;

 public:
  std::optional<T> result;
};

// One that works on the spans of its caller.
class StartedTeamSpans final : public StartedTeamCall {
 public:
  using StartedTeamCall::StartedTeamCall;
  std::optional<bool> result = true;
};

// A reduction of spans, which keeps its operation.
template <class Op>
class StartedTeamReduction final : public StartedTeamCall {
 public:
  StartedTeamReduction(SharedOwner<Group> group, const TeamCall& call, const TeamPlan& plan,
                       const Combine& combine, Op op)
      : StartedTeamCall(std::move(group), call, plan), op_(std::move(op)), combine_(combine) {
    combine_.op = &op_;
    plan_.combine = &combine_;
  }
  std::optional<bool> result = true;

 private:
  Op op_;
  Combine combine_;
};

void start_team_call(const SharedOwner<StartedTeamCall>& call);

template <class R, class Made>
started<R> start_made(SharedOwner<Made> made) {
  start_team_call(made);
  auto& result = made->result;
  return {std::move(made), result};
}

}  // namespace splitc::detail
