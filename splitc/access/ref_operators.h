#pragma once

#include <cstdio>
#include <type_traits>

#include "splitc/access/global_ref.h"

// Operators of classes and enumerations, and streams, on references.
//
// Each does what it does to a const T. If its result refers to an operand that was read for it, a
// copy is returned.

namespace splitc {
namespace detail {

template <class... X>
concept some_global_ref = (is_global_ref<X> || ...);
template <class... X>
concept may_have_operators = (!has_only_built_in_operators<plain_type<X>> || ...);

template <class L, class R>
concept shift_right = requires(const L& l, const R& r) {
  l >> r;
};
// An object that is shifted right into a T changes that, as streams do.
template <class Stream, class T>
concept reads_from =
    std::is_class_v<Stream> && !shift_right<Stream, T> && requires(Stream & in, T& x) {
  in >> x;
};

}  // namespace detail

namespace ref_operators {

// (The result is computed in the body, since some compilers look at a signature before the
// constraints, and every global_ptr would come by here.)
#define SPLITC_BINARY(op)                                                                  \
  template <class L, class R>                                                              \
  requires detail::some_global_ref<L, R> && detail::may_have_operators<L, R> &&            \
      requires(const L& l, const R& r) {                                                   \
    detail::plain(l) op detail::plain(r);                                                  \
  }                                                                                        \
  decltype(auto) operator op(const L& l, const R& r) {                                     \
    using Result = decltype(detail::plain(l) op detail::plain(r));                         \
    return static_cast<detail::safe_result<Result>>(detail::plain(l) op detail::plain(r)); \
  }
SPLITC_BINARY(+)
SPLITC_BINARY(-)
SPLITC_BINARY(*)
SPLITC_BINARY(/)
SPLITC_BINARY(%)
SPLITC_BINARY(^)
SPLITC_BINARY(&)
SPLITC_BINARY(|)
SPLITC_BINARY(<<)
SPLITC_BINARY(>>)
SPLITC_BINARY(==)
SPLITC_BINARY(!=)
SPLITC_BINARY(<)
SPLITC_BINARY(>)
SPLITC_BINARY(<=)
SPLITC_BINARY(>=)
SPLITC_BINARY(<=>)
#undef SPLITC_BINARY

#define SPLITC_UNARY(op)                                                                         \
  template <class X>                                                                             \
  requires detail::some_global_ref<X> && detail::may_have_operators<X> && requires(const X& x) { \
    op detail::plain(x);                                                                         \
  }                                                                                              \
  decltype(auto) operator op(const X& x) {                                                       \
    using Result = decltype(op detail::plain(x));                                                \
    return static_cast<detail::safe_result<Result>>(op detail::plain(x));                        \
  }
SPLITC_UNARY(+)
SPLITC_UNARY(-)
SPLITC_UNARY(*)
SPLITC_UNARY(~)
SPLITC_UNARY(!)
#undef SPLITC_UNARY

// out << a[i] for classes; the operators of streams for numbers take the converted reference.
template <class Stream, class T>
requires detail::may_have_operators<T> && requires(Stream& out, const T& x) { out << x; }
decltype(auto) operator<<(Stream& out, const global_ref<T>& r) { return out << detail::plain(r); }

// in >> a[i].
template <class Stream, class T>
requires detail::reads_from<Stream, T>
decltype(auto) operator>>(Stream& in, const global_ref<T>& r) {
  T x = r;
  decltype(auto) result = in >> x;
  r = x;
  return result;
}

}  // namespace ref_operators
}  // namespace splitc

// g++ would pass a reference through `...`, as its address, and printf would print that. Of other
// functions with `...` it warns with -Wconditionally-supported; clang refuses them all. Compilers
// show the line of a deleted function, and with it what to write instead.
#define SPLITC_NO_REFERENCES(print, ...)                    \
  template <class... X>                                     \
  requires splitc::detail::some_global_ref<X...>            \
  int print(__VA_ARGS__ const char*, const X&...) = delete; \
  namespace std {                                           \
  using ::print;                                            \
  }
SPLITC_NO_REFERENCES(printf)  // name the type of the element: printf("%d", int(a[i]))
SPLITC_NO_REFERENCES(fprintf, std::FILE*, )           // name the type of the element: int(a[i])
SPLITC_NO_REFERENCES(sprintf, char*, )                // name the type of the element: int(a[i])
SPLITC_NO_REFERENCES(snprintf, char*, std::size_t, )  // name the type of the element: int(a[i])
#undef SPLITC_NO_REFERENCES
