#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "splitc/access/access.h"
#include "splitc/access/split_phase.h"
#include "splitc/access/store.h"
#include "splitc/compat/pointer.h"

namespace splitc::compat {

namespace detail {
template <class X>
inline constexpr bool is_lvalue = false;
template <class P>
inline constexpr bool is_lvalue<lvalue<P>> = true;

// The right-hand side of `:=` or `:-`, before it is assigned to the left-hand side.
template <class R, class Operation>
struct right_side {
  R value;
};
template <class X>
inline constexpr bool is_right_side = false;
template <class R, class Operation>
inline constexpr bool is_right_side<right_side<R, Operation>> = true;
}  // namespace detail

// `*p` and `p[i]`: an object that any process may own. It is read where its value is used, and
// written where it is assigned to; `:=` and `:-` start that. P is global<T> or spread<T>.
template <class P>
class lvalue {
 public:
  using value_type = std::remove_cv_t<typename P::element_type>;

  explicit lvalue(P at) noexcept : at_(at) {}
  // Not the default, so that compilers warn where an lvalue is passed to a function with `...`,
  // which would take its bits for the value.
  lvalue(const lvalue& other) noexcept : at_(other.at_) {}
  template <class Q>
  requires(!std::same_as<Q, P> && std::convertible_to<Q, P>) lvalue(const lvalue<Q>& other)
  noexcept : at_(&other) {}

  // For objects that are pointers: the null pointer itself, for `c ? p->next : NULL`.
  lvalue(std::nullptr_t) noexcept requires addressed<value_type> : at_(kNull) {}

  P operator&() const noexcept { return at_; }
  global_ptr<typename P::element_type> address_of() const noexcept { return at_.address(); }

  value_type value() const {
    if constexpr (addressed<value_type>) {
      if (address_of() == kNull) return value_type(nullptr);
    }
    return read(address_of(), am::SourceLocation());
  }
  operator value_type() const { return value(); }
  // What C reads from a pointer, or casts to one.
  explicit operator bool() const requires requires(const value_type& x) { x.address(); }
  { return static_cast<bool>(value()); }
  template <class U>
  requires requires(const value_type& x) { static_cast<U*>(x); }
  explicit operator U*() const { return static_cast<U*>(value()); }

  const lvalue& operator=(const value_type& x) const {
    write(address_of(), x, am::SourceLocation());
    return *this;
  }
  const lvalue& operator=(std::nullptr_t) const requires addressed<value_type> {
    return *this = value_type(nullptr);
  }
  const lvalue& operator=(const lvalue& other) const { return *this = other.value(); }
  template <class Q>
  const lvalue& operator=(const lvalue<Q>& other) const {
    const value_type x = other.value();
    return *this = x;
  }

// Read, compute here, write; as in C, not atomic.
#define SPLITC_COMPOUND(op)                                                         \
  template <class X>                                                                \
  requires(!detail::is_right_side<X>) const lvalue& operator op(const X& x) const { \
    value_type v = value();                                                         \
    v op x;                                                                         \
    return *this = v;                                                               \
  }
  SPLITC_COMPOUND(+=)
  SPLITC_COMPOUND(-=)
  SPLITC_COMPOUND(*=)
  SPLITC_COMPOUND(/=)
  SPLITC_COMPOUND(%=)
  SPLITC_COMPOUND(^=)
  SPLITC_COMPOUND(&=)
  SPLITC_COMPOUND(|=)
  SPLITC_COMPOUND(<<=)
  SPLITC_COMPOUND(>>=)
#undef SPLITC_COMPOUND
  const lvalue& operator++() const { return *this += 1; }
  const lvalue& operator--() const { return *this -= 1; }
  value_type operator++(int) const {
    const value_type before = value();
    ++*this;
    return before;
  }
  value_type operator--(int) const {
    const value_type before = value();
    --*this;
    return before;
  }

  // For pointers, which are read and then followed.
  value_type operator->() const { return value(); }
  decltype(auto) operator[](std::ptrdiff_t n) const requires requires(const value_type& x) { x[n]; }
  { return value()[n]; }

 private:
  using Address = global_ptr<typename P::element_type>;
  static constexpr Address kNull = Address::from_bits(1);  // which no object has

  P at_;
};

// The processor of the pointer that the object holds.
template <class P>
requires addressed<typename lvalue<P>::value_type>
int toproc(const lvalue<P>& object) { return toproc(object.value()); }
// The local part of the pointer that the object holds or, of any other object, of its address.
template <class P>
auto tolocal(const lvalue<P>& object) {
  if constexpr (requires { tolocal(object.value()); }) {
    return tolocal(object.value());
  } else {
    return tolocal(&object);
  }
}

// --- `:=`, which splitc2cc writes `%= split_phase %=`, and `:-`, `%= one_way %=`: they have the
// precedence of `=`, so that the translation need not find where their operands begin and end.
//
//   local := *p    get      *p := value    put      *p :- value    store
//
// Between local objects `:=` is an assignment. A get that converts is complete at once.

struct split_phase_operation {};
struct one_way_operation {};
inline constexpr split_phase_operation split_phase;
inline constexpr one_way_operation one_way;

template <class R>
auto operator%=(split_phase_operation, R right) {
  return detail::right_side<R, split_phase_operation>{right};
}
template <class R>
auto operator%=(one_way_operation, R right) {
  return detail::right_side<R, one_way_operation>{right};
}

template <class T, class R>
void operator%=(T& to, const detail::right_side<R, split_phase_operation>& from) {
  if constexpr (!detail::is_lvalue<R>) {
    to = from.value;
  } else if constexpr (std::same_as<typename R::value_type, T>) {
    get(to, from.value.address_of(), am::SourceLocation());
  } else {
    to = from.value.value();
  }
}
template <class P, class R>
void operator%=(const lvalue<P>& to, const detail::right_side<R, split_phase_operation>& from) {
  const typename lvalue<P>::value_type value = from.value;
  put(to.address_of(), value, am::SourceLocation());
}
template <class P, class R>
void operator%=(const lvalue<P>& to, const detail::right_side<R, one_way_operation>& from) {
  const typename lvalue<P>::value_type value = from.value;
  store(to.address_of(), value, store_counter::default_counter(), am::SourceLocation());
}
// To memory of this process itself, which counts the bytes as well.
template <class T, class R>
void operator%=(T& to, const detail::right_side<R, one_way_operation>& from) {
  const T value = from.value;
  store(splitc::toglobal(&to, am::SourceLocation()), value, store_counter::default_counter(),
        am::SourceLocation());
}

}  // namespace splitc::compat
