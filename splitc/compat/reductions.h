#pragma once

#include <concepts>
#include <functional>
#include <limits>
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
#define SPLITC_NAMED(name, types, op, neutral)                                                \
  template <types T>                                                                          \
  T all_reduce_to_all_##name(T x, am::SourceLocation where = am::SourceLocation::current()) { \
    return detail::to_all(detail::of_job({"all_reduce_to_all_" #name, where}), x, op);        \
  }                                                                                           \
  template <types T>                                                                          \
  T all_reduce_to_one_##name(T x, am::SourceLocation where = am::SourceLocation::current()) { \
    return detail::to_one(detail::of_job({"all_reduce_to_one_" #name, where}), x, op);        \
  }                                                                                           \
  template <types T>                                                                          \
  T all_scan_##name(T x, am::SourceLocation where = am::SourceLocation::current()) {          \
    return detail::scan(detail::of_job({"all_scan_" #name, where}), x, op);                   \
  }                                                                                           \
  template <types T>                                                                          \
  T all_exscan_##name(T x, am::SourceLocation where = am::SourceLocation::current()) {        \
    return detail::exscan(detail::of_job({"all_exscan_" #name, where}), x, op, T(neutral));   \
  }

SPLITC_NAMED(add, arithmetic, std::plus(), 0)
SPLITC_NAMED(mul, arithmetic, std::multiplies(), 1)
SPLITC_NAMED(min, arithmetic, minimum(), detail::greatest<T>())
SPLITC_NAMED(max, arithmetic, maximum(), detail::least<T>())
SPLITC_NAMED(and, std::integral, std::bit_and(), ~0)
SPLITC_NAMED(or, std::integral, std::bit_or(), 0)
SPLITC_NAMED(xor, std::integral, std::bit_xor(), 0)

#undef SPLITC_NAMED

}  // namespace splitc
