#pragma once

#include <stdio.h>  // dprintf() is POSIX's

#include <cstdio>

#include "splitc/compat/lvalue.h"
#include "splitc/compat/reductions.h"

// The value of an lvalue as an argument, which is read first: of collective operations, as in
// all_reduce_to_all_add(*p), and of printf() and its like.

namespace splitc::compat {

#define SPLITC_OF_VALUE(name)       \
  template <class P>                \
  auto name(const lvalue<P>& x) {   \
    return splitc::name(x.value()); \
  }
#define SPLITC_REDUCTIONS_OF_VALUE(op)    \
  SPLITC_OF_VALUE(all_reduce_to_all_##op) \
  SPLITC_OF_VALUE(all_reduce_to_one_##op)
#define SPLITC_CALLS_OF_VALUE(op) SPLITC_REDUCTIONS_OF_VALUE(op) SPLITC_OF_VALUE(all_scan_##op)
SPLITC_CALLS_OF_VALUE(add)
SPLITC_CALLS_OF_VALUE(mul)
SPLITC_CALLS_OF_VALUE(min)
SPLITC_CALLS_OF_VALUE(max)
SPLITC_CALLS_OF_VALUE(and)
SPLITC_CALLS_OF_VALUE(or)
SPLITC_CALLS_OF_VALUE(xor)
SPLITC_REDUCTIONS_OF_VALUE(dadd)
SPLITC_REDUCTIONS_OF_VALUE(dmin)
SPLITC_REDUCTIONS_OF_VALUE(dmax)
SPLITC_OF_VALUE(all_bcast)
SPLITC_OF_VALUE(all_bcast_i)
SPLITC_OF_VALUE(all_bcast_d)
#undef SPLITC_CALLS_OF_VALUE
#undef SPLITC_REDUCTIONS_OF_VALUE
#undef SPLITC_OF_VALUE

}  // namespace splitc::compat

// printf("%d", *p) and its like: what C++ passes through `...` is the lvalue itself. (Of other
// functions with `...` a compiler can warn, as it is not trivially copyable: g++ by
// -Wconditionally-supported, clang always.)

namespace splitc::compat::detail {
template <class X>
const X& value_of(const X& x) noexcept {
  return x;
}
template <class P>
auto value_of(const lvalue<P>& x) {
  return x.value();
}
template <class... X>
concept has_lvalue = (is_lvalue<X> || ...);
}  // namespace splitc::compat::detail

// NOLINTBEGIN: the names are C's, in the namespace where C has them
template <class... X>
requires splitc::compat::detail::has_lvalue<X...>
int printf(const char* format, const X&... x) {
  return std::printf(format, splitc::compat::detail::value_of(x)...);
}
template <class... X>
requires splitc::compat::detail::has_lvalue<X...>
int fprintf(std::FILE* file, const char* format, const X&... x) {
  return std::fprintf(file, format, splitc::compat::detail::value_of(x)...);
}
template <class... X>
requires splitc::compat::detail::has_lvalue<X...>
int sprintf(char* to, const char* format, const X&... x) {
  return std::sprintf(to, format, splitc::compat::detail::value_of(x)...);
}
template <class... X>
requires splitc::compat::detail::has_lvalue<X...>
int snprintf(char* to, std::size_t bytes, const char* format, const X&... x) {
  return std::snprintf(to, bytes, format, splitc::compat::detail::value_of(x)...);
}
template <class... X>
requires splitc::compat::detail::has_lvalue<X...>
int dprintf(int file, const char* format, const X&... x) {
  return ::dprintf(file, format, splitc::compat::detail::value_of(x)...);
}
// NOLINTEND
