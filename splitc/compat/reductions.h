#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/collective/collective.h"

// Reductions and scans under the names of Split-C's library: for every arithmetic type add, mul,
// min and max, and for integers and, or and xor (bitwise).
//
//   all_reduce_to_all_*   every process gets the result
//   all_reduce_to_one_*   process 0 gets it, the others get back what they passed
//   all_scan_*            inclusive: of processes 0 to my_proc()
//   all_exscan_*          exclusive: of those before; the neutral element on process 0
//
// The neutral elements are 0 for add, or and xor; 1 for mul; all bits for and; the greatest value
// of the type, or infinity, for min; the least, or minus infinity, for max.
//
// The contracts are those of all_reduce(), all_reduce_to_one(), all_scan() and all_exscan() in
// splitc/collective/collective.h.

namespace splitc {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

namespace detail {

// Not less, and not greater, than anything.
template <class T>
constexpr T least() noexcept {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
}
template <class T>
constexpr T greatest() noexcept {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

}  // namespace detail

// The four calls of an operation.
#define SPLITC_NAMED(name, types, op, neutral)                                              \
  template <types T>                                                                        \
  T all_reduce_to_all_##name(T x, am::Here where = {}) {                                    \
    return detail::to_all(detail::of_job({"all_reduce_to_all_" #name, where}), x, op);      \
  }                                                                                         \
  template <types T>                                                                        \
  T all_reduce_to_one_##name(T x, am::Here where = {}) {                                    \
    return detail::to_one(detail::of_job({"all_reduce_to_one_" #name, where}), x, op);      \
  }                                                                                         \
  template <types T>                                                                        \
  T all_scan_##name(T x, am::Here where = {}) {                                             \
    return detail::scan(detail::of_job({"all_scan_" #name, where}), x, op);                 \
  }                                                                                         \
  template <types T>                                                                        \
  T all_exscan_##name(T x, am::Here where = {}) {                                           \
    return detail::exscan(detail::of_job({"all_exscan_" #name, where}), x, op, T(neutral)); \
  }

SPLITC_NAMED(add, arithmetic, std::plus(), 0)
SPLITC_NAMED(mul, arithmetic, std::multiplies(), 1)
SPLITC_NAMED(min, arithmetic, minimum(), detail::greatest<T>())
SPLITC_NAMED(max, arithmetic, maximum(), detail::least<T>())
SPLITC_NAMED(and, std::integral, std::bit_and(), ~0)
SPLITC_NAMED(or, std::integral, std::bit_or(), 0)
SPLITC_NAMED(xor, std::integral, std::bit_xor(), 0)

#undef SPLITC_NAMED

// Collective operations under the names that Split-C had for them, for int and double. The
// contracts are those of splitc/collective.

inline int all_bcast_i(int x) { return all_bcast(x); }
inline double all_bcast_d(double x) { return all_bcast(x); }

inline double all_reduce_to_all_dadd(double x) { return all_reduce_to_all_add(x); }
inline double all_reduce_to_all_dmin(double x) { return all_reduce_to_all_min(x); }
inline double all_reduce_to_all_dmax(double x) { return all_reduce_to_all_max(x); }
inline double all_reduce_to_one_dadd(double x) { return all_reduce_to_one_add(x); }
inline double all_reduce_to_one_dmin(double x) { return all_reduce_to_one_min(x); }
inline double all_reduce_to_one_dmax(double x) { return all_reduce_to_one_max(x); }

// v[0] of every process into v[0] to v[PROCS - 1]: of all processes, or of process 0.
template <class T>
void all_concat(T* v) {
  const T mine = v[0];
  all_gather(std::span<const T>(&mine, 1), std::span<T>(v, procs()));
}
template <class T>
void all_gather(T* v) {
  const T mine = v[0];
  all_gather_to_one(std::span<const T>(&mine, 1), std::span<T>(v, procs()));
}

}  // namespace splitc
