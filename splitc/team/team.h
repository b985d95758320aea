// team/ is collective calls of some processes: teams, each with ranks of its own. It may use
// collective/ and world/. What a team's members exchange are messages of the library, keyed by
// team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/collective/collective.h"
#include "splitc/collective/varying.h"
#include "splitc/group/calls.h"
#include "splitc/group/started.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

namespace splitc {
namespace detail {
// Throws Error if this process is not in the team, or may not make a call of it now. `waits`: for
// the calls that were started before.
OfGroup of_team(const SharedOwner<Group>& group, const GroupCall& call, bool waits);
[[noreturn]] void refuse_no_team(Call call);
}  // namespace detail

// Some processes of the job, in an order that gives each a rank, and the collective calls that they
// make among themselves.
//
//   const team row = team::world().split(my_proc() / width);
//   const double sum = row.all_reduce(mine, std::plus());      // of my row only
//   if (row.rank() == 0) ...
//
//   const team half = team::world().split(my_proc() % 2 ? 0 : team::none);
//   if (half) half.barrier();                                  // on half of the processes
//
//   auto sums = row.start_all_reduce(mine, std::plus());       // split-phase, on two teams at once
//   auto most = column.start_all_reduce(mine, larger);
//   use(sums.wait(), most.wait());
//
// A team is a handle, copied at the cost of a counter; copies are the same team. It ends with
// the last copy and the last call that was started: at each member on its own, without
// communication. Teams may be made without limit. A handle does not outlive run().
//
// Collective. The members of a team make the same calls of it, in the same order: they are "all
// processes" of splitc/collective/collective.h. Calls of different teams, or of a team and the job,
// need no common order: members common to two teams may use them in different orders, as long as
// they do not wait for one another in a circle. (If A waits for B in team 1, and B for A in team 2,
// neither continues. Started calls do not wait.)
//
// The calls have the names, rules and types of splitc/collective/collective.h and varying.h, with
// ranks of the team where those have processes: `root`, the parts of spans, the order in which
// values are combined, and process 0, which is the team's rank 0.
//
// Memory. barrier(), all_reduce(), all_gather() and all_to_all() are barriers of the team: no
// member returns before all have called, and what members wrote before is visible to all of them
// after it, as with barrier(); they do not complete stores to other nodes. all_bcast(), the calls
// to one member, all_scan() and all_exscan() are not barriers: a member that has nothing to wait
// for, such as the root of a broadcast or a contributor to a reduction, returns at once, up to 64
// calls ahead of others. What the root wrote before is visible to members that have received its
// bytes. Call barrier() where more than that is needed.
//
// Order of operations: splitc/collective/collective.h, by ranks of the team.
//
// Errors. Throw Error in a handler, outside the program's threads, and on a team that is empty. If
// the members make different calls, also in release builds, members that cannot get what their call
// needs throw an Error that names a process with another call, and both calls, when messages differ
// or after 10 ms of waiting. A member that makes none leaves the others waiting, which the report
// on a job that stands still shows. What `op` throws leaves the call at the member that ran it;
// other members whose results that spoils get an Error that names the rank.
//
// Cost. That of the calls of all processes, if the members on this node have a board for it, as 7
// teams at a time have; else messages there, too. docs/collectives.md has algorithms and figures.
class team {
 public:
  static constexpr std::int64_t none = -1;  // for split()

  // No team: this process is in none.
  team() = default;
  // All processes, with their ranks; and those of this node, in the order of theirs. Not
  // collective.
  static team world();
  static team node();

  // Collective: members with the same `colour` form a team, ranked by `key`, and by rank in this
  // team among equal keys. A negative colour, such as none, gets an empty one. Costs an
  // all_gather() of 24 bytes.
  team split(std::int64_t colour, std::int64_t key = 0, am::Here where = {}) const;
  // Collective: the members whose ranks in this team are listed, in that order. Each passes the
  // list that it is in; others pass one without themselves, such as an empty one, and get an empty
  // team. If one list has a rank that does not exist, or one twice, or if those on a list have not
  // passed the same, every member of this team gets the Error, and no team is made. Costs an
  // all_gather() of 32 bytes.
  team select(std::span<const std::uint32_t> ranks, am::Here where = {}) const;

  // Whether this process is in it. All others of these, but ==, throw Error if not.
  explicit operator bool() const noexcept { return group_ != nullptr; }
  std::uint32_t rank(am::Here where = {}) const { return group({"team::rank", where}).rank(); }
  std::uint32_t size(am::Here where = {}) const { return group({"team::size", where}).size(); }
  // The process of a rank; Error if there is no such rank. A load.
  std::uint32_t proc(std::uint32_t rank, am::Here where = {}) const;
  // The rank of a process; nothing if it is no member. A binary search.
  std::optional<std::uint32_t> rank_of(std::uint32_t proc, am::Here where = {}) const {
    return group({"team::rank_of", where}).rank_of(proc);
  }
  bool contains(std::uint32_t proc, am::Here where = {}) const {
    return group({"team::contains", where}).rank_of(proc).has_value();
  }
  // Whether it is the same team, not just one of the same members.
  bool operator==(const team&) const = default;

  // --- As the calls of these names without a team. (start_barrier() has the two halves of one.)

  void barrier(am::Here where = {}) const { detail::run_plan(of({"team::barrier", where}), {}); }

  template <detail::one_value T>
  [[nodiscard]] T all_bcast(const T& x, std::uint32_t root = 0, am::Here where = {}) const {
    return detail::group_bcast(of({"team::all_bcast", where}), x, root);
  }
  template <detail::only_elements R>
  void all_bcast(R&& data, std::uint32_t root = 0, am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_bcast", where});
    detail::run_plan(of, detail::bcast_plan(of, detail::span_of(data), root));
  }

  template <class T, class Op>
  T all_reduce(const T& x, Op op, am::Here where = {}) const {
    return detail::to_all(of({"team::all_reduce", where}), x, op);
  }
  template <elements R, class Op>
  void all_reduce(const R& mine, std::span<detail::ValueOf<const R>> result, Op op,
                  am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_reduce", where});
    const detail::Combine combine = detail::combine_by<detail::ValueOf<const R>>(op);
    detail::run_plan(of, detail::reduce_plan(of, std::as_bytes(detail::span_of(mine)),
                                             std::as_writable_bytes(result), combine));
  }
  template <class T, class Op>
  T all_reduce_to_one(const T& x, Op op, am::Here where = {}) const {
    return detail::to_one(of({"team::all_reduce_to_one", where}), x, op);
  }
  template <class T, class Op>
  T all_scan(const T& x, Op op, am::Here where = {}) const {
    return detail::scan(of({"team::all_scan", where}), x, op);
  }
  template <class T, class Op>
  T all_exscan(const T& x, Op op, const std::type_identity_t<T>& identity,
               am::Here where = {}) const {
    return detail::exscan(of({"team::all_exscan", where}), x, op, T(identity));
  }

  template <class T>
  std::vector<T> all_gather(const T& x, am::Here where = {}) const {
    return detail::group_gather(of({"team::all_gather", where}), x, false);
  }
  template <elements R>
  void all_gather(const R& mine, std::span<detail::ValueOf<const R>> all,
                  am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_gather", where});
    detail::run_plan(of, detail::gather_plan(of, detail::span_of(mine), all, false));
  }
  template <class T>
  std::vector<T> all_gather_to_one(const T& x, am::Here where = {}) const {
    return detail::group_gather(of({"team::all_gather_to_one", where}), x, true);
  }
  template <elements R>
  void all_gather_to_one(const R& mine, std::span<detail::ValueOf<const R>> all,
                         am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_gather_to_one", where});
    detail::run_plan(of, detail::gather_plan(of, detail::span_of(mine), all, true));
  }

  template <elements R>
  void all_to_all(const R& to, std::span<detail::ValueOf<const R>> from,
                  am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_to_all", where});
    detail::run_plan(of, detail::transpose_plan(of, detail::span_of(to), from));
  }
  template <elements R>
  received_parts<detail::ValueOf<const R>> all_to_all_varying(const R& to,
                                                              std::span<const std::size_t> counts,
                                                              am::Here where = {}) const {
    const detail::OfGroup of = this->of({"team::all_to_all_varying", where});
    return received_parts<detail::ValueOf<const R>>(
        detail::varying(of, detail::span_of(to), counts));
  }
  template <elements R>
  std::size_t all_to_all_varying(const R& to, std::span<const std::size_t> counts,
                                 std::span<detail::ValueOf<const R>> from,
                                 std::span<std::size_t> from_counts = {},
                                 am::Here where = {}) const {
    return detail::varying_into(of({"team::all_to_all_varying", where}), detail::span_of(to),
                                counts, from, from_counts);
  }

  // --- Split-phase, as those of splitc/collective/started.h. The started calls of one team go on
  // one after another, whenever this process polls; those of different teams at the same time, and
  // beside those of the job. Whatever their sizes, they end in polls alone. All other calls of a
  // team wait first until those that were started of it have ended.

  started<> start_barrier(am::Here where = {}) const {
    return detail::start_group_barrier(starting({"team::start_barrier", where}));
  }
  template <detail::one_value T>
  started<T> start_all_bcast(const T& x, std::uint32_t root = 0, am::Here where = {}) const {
    return detail::start_group_bcast(starting({"team::start_all_bcast", where}), x, root);
  }
  template <class T, class Op>
  started<T> start_all_reduce(const T& x, Op op, am::Here where = {}) const {
    return detail::start_group_reduce(starting({"team::start_all_reduce", where}), x, op);
  }
  template <class T>
  started<std::vector<T>> start_all_gather(const T& x, am::Here where = {}) const {
    return detail::start_group_gather(starting({"team::start_all_gather", where}), x);
  }
  template <detail::lasting_only_elements R>
  started<> start_all_bcast(R&& data, std::uint32_t root = 0, am::Here where = {}) const {
    const detail::OfGroup of = starting({"team::start_all_bcast", where});
    return detail::start_spans(of, detail::bcast_plan(of, detail::span_of(data), root));
  }
  template <lasting_elements R, class Op>
  started<> start_all_reduce(R&& mine, std::span<detail::ValueOf<R>> result, Op op,
                             am::Here where = {}) const {
    return detail::start_group_reduce<detail::ValueOf<R>>(
        starting({"team::start_all_reduce", where}), detail::span_of(mine), result, std::move(op));
  }
  template <lasting_elements R>
  started<> start_all_gather(R&& mine, std::span<detail::ValueOf<R>> all,
                             am::Here where = {}) const {
    const detail::OfGroup of = starting({"team::start_all_gather", where});
    return detail::start_spans(of, detail::gather_plan(of, detail::span_of(mine), all, false));
  }
  template <lasting_elements R>
  started<> start_all_to_all(R&& to, std::span<detail::ValueOf<R>> from,
                             am::Here where = {}) const {
    const detail::OfGroup of = starting({"team::start_all_to_all", where});
    return detail::start_spans(of, detail::transpose_plan(of, detail::span_of(to), from));
  }

 private:
  explicit team(detail::SharedOwner<detail::Group> group) noexcept : group_(std::move(group)) {}

  detail::OfGroup of(const detail::GroupCall& call) const {
    return detail::of_team(group_, call, true);
  }
  detail::OfGroup starting(const detail::GroupCall& call) const {
    return detail::of_team(group_, call, false);
  }
  const detail::Group& group(detail::Call call) const {
    if (group_ == nullptr) [[unlikely]]
      detail::refuse_no_team(call);
    return *group_;
  }

  detail::SharedOwner<detail::Group> group_;  // nullptr: this process is in none
};

}  // namespace splitc
