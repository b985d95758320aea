#pragma once

#include <concepts>

#include "am/types/source_location.h"
#include "splitc/collective/reduce.h"
#include "splitc/group/plan.h"

namespace splitc::detail {

// The members of a team (splitc/team/team.h) with the names of splitc/collective/reduce.h, whose
// rules and neutral elements they have, with ranks of the team: all_reduce_to_all_*,
// all_reduce_to_one_*, all_scan_*, all_exscan_*. It is a base of Team.
template <class Team>
class NamedReductions {
  using Where = am::SourceLocation;

 public:
  bool operator==(const NamedReductions&) const = default;

  // --- To all.
  template <arithmetic T>
  T all_reduce_to_all_add(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_add", where}), x, Add());
  }
  template <arithmetic T>
  T all_reduce_to_all_mul(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_mul", where}), x, Mul());
  }
  template <arithmetic T>
  T all_reduce_to_all_min(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_min", where}), x, Min());
  }
  template <arithmetic T>
  T all_reduce_to_all_max(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_max", where}), x, Max());
  }
  template <std::integral T>
  T all_reduce_to_all_and(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_and", where}), x, And());
  }
  template <std::integral T>
  T all_reduce_to_all_or(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_or", where}), x, Or());
  }
  template <std::integral T>
  T all_reduce_to_all_xor(T x, Where where = Where::current()) const {
    return detail::to_all(of({"team::all_reduce_to_all_xor", where}), x, Xor());
  }

  // --- To rank 0.
  template <arithmetic T>
  T all_reduce_to_one_add(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_add", where}), x, Add());
  }
  template <arithmetic T>
  T all_reduce_to_one_mul(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_mul", where}), x, Mul());
  }
  template <arithmetic T>
  T all_reduce_to_one_min(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_min", where}), x, Min());
  }
  template <arithmetic T>
  T all_reduce_to_one_max(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_max", where}), x, Max());
  }
  template <std::integral T>
  T all_reduce_to_one_and(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_and", where}), x, And());
  }
  template <std::integral T>
  T all_reduce_to_one_or(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_or", where}), x, Or());
  }
  template <std::integral T>
  T all_reduce_to_one_xor(T x, Where where = Where::current()) const {
    return detail::to_one(of({"team::all_reduce_to_one_xor", where}), x, Xor());
  }

  // --- Inclusive scans.
  template <arithmetic T>
  T all_scan_add(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_add", where}), x, Add());
  }
  template <arithmetic T>
  T all_scan_mul(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_mul", where}), x, Mul());
  }
  template <arithmetic T>
  T all_scan_min(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_min", where}), x, Min());
  }
  template <arithmetic T>
  T all_scan_max(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_max", where}), x, Max());
  }
  template <std::integral T>
  T all_scan_and(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_and", where}), x, And());
  }
  template <std::integral T>
  T all_scan_or(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_or", where}), x, Or());
  }
  template <std::integral T>
  T all_scan_xor(T x, Where where = Where::current()) const {
    return detail::scan(of({"team::all_scan_xor", where}), x, Xor());
  }

  // --- Exclusive scans.
  template <arithmetic T>
  T all_exscan_add(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_add", where}), x, Add(), T(0));
  }
  template <arithmetic T>
  T all_exscan_mul(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_mul", where}), x, Mul(), T(1));
  }
  template <arithmetic T>
  T all_exscan_min(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_min", where}), x, Min(), greatest<T>());
  }
  template <arithmetic T>
  T all_exscan_max(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_max", where}), x, Max(), least<T>());
  }
  template <std::integral T>
  T all_exscan_and(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_and", where}), x, And(), static_cast<T>(~0));
  }
  template <std::integral T>
  T all_exscan_or(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_or", where}), x, Or(), T(0));
  }
  template <std::integral T>
  T all_exscan_xor(T x, Where where = Where::current()) const {
    return detail::exscan(of({"team::all_exscan_xor", where}), x, Xor(), T(0));
  }

 private:
  auto of(const GroupCall& call) const { return static_cast<const Team&>(*this).of(call); }
};

}  // namespace splitc::detail
