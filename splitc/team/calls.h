#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "splitc/collective/varying.h"
#include "splitc/team/exchange.h"
#include "splitc/team/group.h"
#include "splitc/team/started.h"
#include "splitc/world/shared_owner.h"

// What the members of team do.

namespace splitc::detail {

// A call that a program makes of a team.
struct OfTeam {
  const SharedOwner<Group>& group;  // not nullptr
  TeamCall call;

  std::uint32_t size() const noexcept { return group->size(); }
  std::uint32_t rank() const noexcept { return group->rank(); }
};
// Throws Error if this process is not in the team, or may not make a call of it now. `waits`: for
// the calls that were started before.
OfTeam of_team(const SharedOwner<Group>& group, const TeamCall& call, bool waits);
[[noreturn]] void refuse_no_team(Call call);

// The plan of each call; throws Error if the spans are not as they should.
TeamPlan bcast_plan(const OfTeam& of, std::span<std::byte> data, std::uint32_t root,
                    std::uint64_t type);
TeamPlan gather_plan(const OfTeam& of, std::span<const std::byte> mine, std::span<std::byte> all,
                     bool only_to_one, std::uint64_t type);
TeamPlan transpose_plan(const OfTeam& of, std::span<const std::byte> to, std::span<std::byte> from,
                        std::size_t element, std::uint64_t type);
TeamPlan reduce_plan(const OfTeam& of, std::span<const std::byte> mine, std::span<std::byte> result,
                     const Combine& combine);

// Of the members, what Varying is of all processes (splitc/collective/varying.h).
class TeamVarying {
 public:
  TeamVarying(const OfTeam& of, std::span<const std::byte> to, std::span<const std::size_t> counts,
              std::size_t element, std::uint64_t type);
  std::span<const std::size_t> begin() const noexcept { return begin_; }
  void move(std::byte* from) const;

 private:
  const OfTeam of_;
  const std::span<const std::byte> to_;
  const std::uint64_t type_;
  std::vector<std::size_t> from_at_;  // where parts begin in `to`, and the end
  std::vector<std::size_t> begin_;
};

void run_plan(const OfTeam& of, const TeamPlan& plan);

// A value of each member, to all.
template <class T>
TeamPlan value_plan(const T* x) noexcept {
  check_value<T>();
  return {.how = TeamPlan::How::kGather,
          .carried = true,
          .bytes = sizeof(T),
          .kind = type_of<T>(),
          .from = reinterpret_cast<const std::byte*>(x)};
}
// op over those of ranks 0 to last - 1, of which there are some.
template <class T, class Op>
T combine_values(const Exchange& all, std::uint32_t last, Op& op) {
  T result = load<T>(all.of(0));
  for (std::uint32_t rank = 1; rank < last; ++rank) {
    result = static_cast<T>(op(result, load<T>(all.of(rank))));
  }
  return result;
}
template <class T>
std::vector<T> values_of(const Exchange& all, std::uint32_t size) {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> values;
  values.reserve(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) values.push_back(load<T>(all.of(rank)));
  return values;
}
// op over those of the first `last` ranks; `x` of this member where that is none.
template <class T, class Op>
T team_combine(const OfTeam& of, const T& x, std::uint32_t last, Op& op) {
  Exchange all(*of.group, of.call, value_plan(&x));
  all.run();
  return last == 0 ? x : combine_values<T>(all, last, op);
}
template <class T>
std::vector<T> team_gather(const OfTeam& of, const T& x, bool only_to_one) {
  Exchange all(*of.group, of.call, value_plan(&x));
  all.run();
  return values_of<T>(all, only_to_one && of.rank() != 0 ? 0 : of.size());
}
template <class Element, class Op>
Combine combine_by(Op& op) noexcept {
  check_value<Element>();
  return {&combine_elements<Element, Op>, &op, sizeof(Element), type_of<Element>()};
}

// The same, started. What take(exchange, x) returns is the result, which becomes a T.
template <class T, class X, class Take>
started<T> start_team_value(const OfTeam& of, const TeamPlan& plan, const X& x, Take take) {
  return start_made<T>(SharedOwner<StartedTeamValue<X, typename started<T>::Value, Take>>(
      new StartedTeamValue<X, typename started<T>::Value, Take>(of.group, of.call, plan, x,
                                                                std::move(take))));
}
started<> start_team_spans(const OfTeam& of, const TeamPlan& plan);

}  // namespace splitc::detail
