#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "am/types/source_location.h"
#include "splitc/collective/collective.h"

// Reductions and scans by name, as in Split-C's library: for every arithmetic type add, mul, min
// and max, and for integers and, or and xor (bitwise).
//
//   all_reduce_to_all_*   every process gets the result
//   all_reduce_to_one_*   process 0 gets it, the others get back what they passed
//   all_scan_*            inclusive: of processes 0 to my_proc()
//   all_exscan_*          exclusive: of those before; the neutral element on process 0
//
//   double total = all_reduce_to_all_add(mine);      int before = all_exscan_add(count);
//
// The result has the type of the argument, which is the same in all processes; so a sum of chars is
// a char. For min and max of floating-point numbers a NaN counts as neither less nor greater than
// anything.
//
// Collective, with the rules, costs and errors of splitc/collective/collective.h.
//
// The neutral elements are 0 for add, or and xor; 1 for mul; all bits for and; the greatest value
// of the type, or infinity, for min; the least, or minus infinity, for max.

namespace splitc {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;

namespace detail {

struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Add {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
struct Mul {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};
struct And {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

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

// --- To all.
template <arithmetic T>
T all_reduce_to_all_add(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_add", where}), x, detail::Add());
}
template <arithmetic T>
T all_reduce_to_all_mul(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_mul", where}), x, detail::Mul());
}
template <arithmetic T>
T all_reduce_to_all_min(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_min", where}), x, detail::Min());
}
template <arithmetic T>
T all_reduce_to_all_max(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_max", where}), x, detail::Max());
}
template <std::integral T>
T all_reduce_to_all_and(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_and", where}), x, detail::And());
}
template <std::integral T>
T all_reduce_to_all_or(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_or", where}), x, detail::Or());
}
template <std::integral T>
T all_reduce_to_all_xor(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all(detail::of_job({"all_reduce_to_all_xor", where}), x, detail::Xor());
}

// --- To process 0.
template <arithmetic T>
T all_reduce_to_one_add(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_add", where}), x, detail::Add());
}
template <arithmetic T>
T all_reduce_to_one_mul(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_mul", where}), x, detail::Mul());
}
template <arithmetic T>
T all_reduce_to_one_min(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_min", where}), x, detail::Min());
}
template <arithmetic T>
T all_reduce_to_one_max(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_max", where}), x, detail::Max());
}
template <std::integral T>
T all_reduce_to_one_and(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_and", where}), x, detail::And());
}
template <std::integral T>
T all_reduce_to_one_or(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_or", where}), x, detail::Or());
}
template <std::integral T>
T all_reduce_to_one_xor(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one(detail::of_job({"all_reduce_to_one_xor", where}), x, detail::Xor());
}

// --- Inclusive scans.
template <arithmetic T>
T all_scan_add(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_add", where}), x, detail::Add());
}
template <arithmetic T>
T all_scan_mul(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_mul", where}), x, detail::Mul());
}
template <arithmetic T>
T all_scan_min(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_min", where}), x, detail::Min());
}
template <arithmetic T>
T all_scan_max(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_max", where}), x, detail::Max());
}
template <std::integral T>
T all_scan_and(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_and", where}), x, detail::And());
}
template <std::integral T>
T all_scan_or(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_or", where}), x, detail::Or());
}
template <std::integral T>
T all_scan_xor(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan(detail::of_job({"all_scan_xor", where}), x, detail::Xor());
}

// --- Exclusive scans.
template <arithmetic T>
T all_exscan_add(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_add", where}), x, detail::Add(), T(0));
}
template <arithmetic T>
T all_exscan_mul(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_mul", where}), x, detail::Mul(), T(1));
}
template <arithmetic T>
T all_exscan_min(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_min", where}), x, detail::Min(),
                        detail::greatest<T>());
}
template <arithmetic T>
T all_exscan_max(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_max", where}), x, detail::Max(),
                        detail::least<T>());
}
template <std::integral T>
T all_exscan_and(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_and", where}), x, detail::And(),
                        static_cast<T>(~0));
}
template <std::integral T>
T all_exscan_or(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_or", where}), x, detail::Or(), T(0));
}
template <std::integral T>
T all_exscan_xor(T x, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan(detail::of_job({"all_exscan_xor", where}), x, detail::Xor(), T(0));
}

}  // namespace splitc
