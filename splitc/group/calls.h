#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "am/collective/choice.h"
#include "am/collective/schedule.h"
#include "splitc/group/group.h"
#include "splitc/group/plan.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"

// Collective calls of a group: what its members give and get as plans, and the calls that wait for
// them.

namespace splitc::detail {

using Collective = am::schedule::Operation;

// A call that a program makes of a group.
struct OfGroup {
  const SharedOwner<Group>& group;  // not nullptr
  GroupCall call;

  std::uint32_t size() const noexcept { return group->size(); }
  std::uint32_t rank() const noexcept { return group->rank(); }
};
// One of all processes, when those that were started have ended; or one to be started. Throw Error
// if this process may not make one now.
OfGroup of_job(const GroupCall& call);
OfGroup to_start_of_job(const GroupCall& call);

// --- Of elements. Throw Error if the spans are not as they should.
GroupPlan bcast_plan(const OfGroup& of, std::span<std::byte> data, std::uint32_t root,
                     std::uint64_t type);
GroupPlan gather_plan(const OfGroup& of, std::span<const std::byte> mine, std::span<std::byte> all,
                      bool only_to_one, std::uint64_t type);
GroupPlan transpose_plan(const OfGroup& of, std::span<const std::byte> to,
                         std::span<std::byte> from, std::uint64_t type);
GroupPlan reduce_plan(const OfGroup& of, std::span<const std::byte> mine,
                      std::span<std::byte> result, const Combine& combine);

template <class T>
GroupPlan bcast_plan(const OfGroup& of, std::span<T> data, std::uint32_t root) {
  check_plain<T>();
  check_writable<std::span<T>>();
  return bcast_plan(of, std::as_writable_bytes(data), root, type_of<T>());
}
template <class T>
GroupPlan gather_plan(const OfGroup& of, std::span<T> mine, std::span<std::remove_const_t<T>> all,
                      bool only_to_one) {
  check_plain<T>();
  return gather_plan(of, std::as_bytes(mine), std::as_writable_bytes(all), only_to_one,
                     type_of<std::remove_const_t<T>>());
}
template <class T>
GroupPlan transpose_plan(const OfGroup& of, std::span<T> to,
                         std::span<std::remove_const_t<T>> from) {
  check_plain<T>();
  return transpose_plan(of, std::as_bytes(to), std::as_writable_bytes(from),
                        type_of<std::remove_const_t<T>>());
}

void run_plan(const OfGroup& of, const GroupPlan& plan);

// --- Of values: of one each, `x`. A plan has the address of a copy, so that the program's variable
// can be in a register while a loop makes it. (A step of conjugate gradients, which updates and
// squares 13,824 elements: 52 us with the sum in memory, 11 without.)

// `combine` works on two of them, and is nullptr if they are only moved.
template <class T>
GroupPlan value_plan(Collective operation, const T& x, std::byte* output, const Combine* combine,
                     std::uint32_t root = 0) noexcept {
  check_value<T>();
  return {.call = {operation, root, sizeof(T), sizeof(T)},
          .kind = type_of<T>() << 24 | root,
          .input = bytes_of(x),
          .output = output,
          .combine = combine};
}
// A reduction or scan; `result` where this member gets none.
template <class T, class Op>
T group_combine(const OfGroup& of, Collective operation, const T& x, T result, Op& op) {
  const Combine combine = combine_by<T>(op);
  const T mine = x;
  run_plan(of, value_plan(operation, mine, writable_bytes_of(result), &combine));
  return result;
}
template <class T>
T group_bcast(const OfGroup& of, const T& x, std::uint32_t root) {
  const T mine = x;
  T result = x;
  bcast_plan(of, std::as_writable_bytes(std::span(&result, 1)), root, type_of<T>());
  run_plan(of, value_plan(Collective::kBroadcast, mine, writable_bytes_of(result), nullptr, root));
  return result;
}
// The values by rank; nothing where this member gets none.
template <class T>
std::vector<T> group_gather(const OfGroup& of, const T& x, bool only_to_one) {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> all(only_to_one && of.rank() != 0 ? 0 : of.size(), x);
  const Collective operation = only_to_one ? Collective::kGather : Collective::kAllGather;
  const T mine = x;
  run_plan(of, value_plan(operation, mine, reinterpret_cast<std::byte*>(all.data()), nullptr));
  return all;
}

template <class T, class Op>
T to_all(const OfGroup& of, const T& x, Op op) {
  return group_combine(of, Collective::kAllReduce, x, x, op);
}
template <class T, class Op>
T to_one(const OfGroup& of, const T& x, Op op) {
  return group_combine(of, Collective::kReduce, x, x, op);
}
template <class T, class Op>
T scan(const OfGroup& of, const T& x, Op op) {
  return group_combine(of, Collective::kScan, x, x, op);
}
template <class T, class Op>
T exscan(const OfGroup& of, const T& x, Op op, const T& identity) {
  return group_combine(of, Collective::kExclusiveScan, x, identity, op);
}

// All to all, of parts of any size. In two steps, so that the caller finds the memory when it knows
// how much comes: the sizes of the parts, and the parts. Both collective.
class GroupVarying {
 public:
  // `to` consists of the part for rank 0, of counts[0] elements of `element` bytes, and so on.
  // Throws Error unless there is one for each, and `to` is all of them.
  GroupVarying(const OfGroup& of, std::span<const std::byte> to,
               std::span<const std::size_t> counts, std::size_t element, std::uint64_t type);
  // Where the part of each rank is to begin, in bytes, and the end of all.
  std::span<const std::uint64_t> begin() const noexcept { return begin_; }
  // Moves them to `from`, where there is room for them.
  void move(std::byte* from) const;

 private:
  const OfGroup of_;
  const std::span<const std::byte> to_;
  const std::uint64_t type_;
  std::vector<std::uint64_t> to_at_;     // where parts begin in `to`, and the end
  std::vector<std::uint64_t> their_at_;  // where the one for this process begins in that of each
  std::vector<std::uint64_t> begin_;
};

// Throws Error unless there is one of `counts` for each of `all`, or none.
void check_counts_of(std::span<const std::size_t> counts, std::size_t all, Call call);
[[noreturn]] void refuse_room(std::size_t room, std::size_t needed, Call call);

}  // namespace splitc::detail
