#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/group/started.h"
#include "splitc/world/elements.h"

// Split-phase collective calls: started now, and waited for later, with computation in between.
//
//   auto sum = start_all_reduce(mine, std::plus<>());     // returns at once
//   auto done = start_barrier();
//   while (compute_a_little()) poll();                    // they go on meanwhile
//   const double total = sum.wait();
//   done.wait();
//
//   call                                       wait() returns
//   start_barrier()                            nothing
//   start_all_bcast(x, root)                   the root's x
//   start_all_reduce(x, op)                    op over all values
//   start_all_gather(x)                        all values, by process
//   start_all_bcast(elements, root)            nothing; then the elements of all are the root's
//   start_all_reduce(mine, result, op)         nothing; then `result` holds op over each element
//   start_all_gather(mine, all)                nothing; then `all` holds everybody's
//   start_all_to_all(to, from)                 nothing; then `from` holds what is for this process
//
// Collective. Starting is the call that all processes make in the same order, among their other
// collective calls. Each does what the call of its name without start_ does
// (splitc/collective/collective.h); but no process waits in it, and start_all_bcast() is no
// barrier: its root has ended when its bytes are in flight. Values are combined in the order of a
// team's (splitc/team/team.h). Several may be in flight; they go on one after another, in the order
// in which they were started, whenever this process polls. All other collective calls wait first
// until those that were started have ended.
//
// Everything goes on in polls: no process need be in wait() for the others to finish, but each must
// poll.
//
// Memory. Values are copied when the call is started. Elements (`lasting_elements`,
// splitc/world/elements.h) stay where they are until wait() has returned; until then arguments may
// not be changed, and results not be read.
//
// Thread rule: the first thread of the program. Starting, and wait(), throw Error in a handler. An
// operation `op` is called in a poll, so it may not wait, nor start or make a collective call:
// Error. world().job().barrier() knows nothing of these calls: wait for them before.

namespace splitc {

inline started<> start_barrier(am::Here where = {}) {
  return detail::start_group_barrier(detail::to_start_of_job({"start_barrier", where}));
}

template <detail::one_value T>
started<T> start_all_bcast(const T& x, std::uint32_t root = 0, am::Here where = {}) {
  return detail::start_group_bcast(detail::to_start_of_job({"start_all_bcast", where}), x, root);
}
template <class T, class Op>
started<T> start_all_reduce(const T& x, Op op, am::Here where = {}) {
  return detail::start_group_reduce(detail::to_start_of_job({"start_all_reduce", where}), x, op);
}
template <class T>
started<std::vector<T>> start_all_gather(const T& x, am::Here where = {}) {
  return detail::start_group_gather(detail::to_start_of_job({"start_all_gather", where}), x);
}

template <detail::lasting_only_elements R>
started<> start_all_bcast(R&& elements, std::uint32_t root = 0, am::Here where = {}) {
  const detail::OfGroup of = detail::to_start_of_job({"start_all_bcast", where});
  return detail::start_spans(of, detail::bcast_plan(of, detail::span_of(elements), root));
}
template <lasting_elements R, class Op>
started<> start_all_reduce(R&& my_elements, std::span<detail::ValueOf<R>> result, Op op,
                           am::Here where = {}) {
  return detail::start_group_reduce<detail::ValueOf<R>>(
      detail::to_start_of_job({"start_all_reduce", where}), detail::span_of(my_elements), result,
      std::move(op));
}
template <lasting_elements R>
started<> start_all_gather(R&& my_elements, std::span<detail::ValueOf<R>> all,
                           am::Here where = {}) {
  const detail::OfGroup of = detail::to_start_of_job({"start_all_gather", where});
  return detail::start_spans(of, detail::gather_plan(of, detail::span_of(my_elements), all, false));
}
template <lasting_elements R>
started<> start_all_to_all(R&& parts, std::span<detail::ValueOf<R>> from, am::Here where = {}) {
  const detail::OfGroup of = detail::to_start_of_job({"start_all_to_all", where});
  return detail::start_spans(of, detail::transpose_plan(of, detail::span_of(parts), from));
}

}  // namespace splitc
