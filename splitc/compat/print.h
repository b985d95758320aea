#pragma once

#include <stdio.h>  // dprintf() is POSIX's

#include <cstdio>

#include "splitc/compat/lvalue.h"

// printf("%d", *p) and its like: the value of an lvalue is read and passed, since what C++ passes
// through `...` is the lvalue itself. (Of other functions with `...` a compiler can warn, as it is
// not trivially copyable: g++ by -Wconditionally-supported, clang always.)

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
