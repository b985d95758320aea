#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "splitc/access/access.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/refused.h"

// Objects of other processes in expressions: what `*p`, `p[i]` and `a[i]` give.
//
//   x = a[i] + 2 * *p;      two reads           a[i] = x;        a write
//   a[i] += x;              a read, a write     a[i] = a[j];     a read, a write
//   get(x, a[i]);           no access here: the operation takes the place, not the value
//
// A global_ref<T> behaves as a T in every expression: it is read where a T& would be read and
// written where a T& would be written. Each read and each write is that of splitc/access/access.h,
// with its cost, its errors and its thread rule, and a far one waits. Operators have the result and
// the type that C++ gives them for values of these types, by C++'s own rules: for arithmetic and
// pointer types the language converts the reference and applies its built-in operator; for classes
// and enumerations, whose operators may be members or templates, splitc/access/ref_operators.h
// forwards to the operator of the values.
//
// What a reference cannot do, because C++ has no way to say it:
//   - `a[i].field` and `a[i].function()`: use p.member(&T::field), or T(a[i]).function();
//   - `auto x = a[i]` makes another name for the element, not a copy: write the type, T x = a[i];
//   - in `c ? a[i] : x` the type of x decides alone if x is of an arithmetic type;
//   - f(a[i]) does not deduce T for a template f(const T&). Passing a reference through `...`, as
//     in printf("%d", a[i]), does not compile: write int(a[i]).
//
// `a[i] += x`, `++a[i]` and their like read and then write: they are not atomic (fetch_and_add is).

namespace splitc {
namespace detail {

template <class T>
inline constexpr bool is_global_ref = false;
template <class T>
inline constexpr bool is_global_ref<global_ref<T>> = true;

// The value of an operand; what is no global_ref stays itself. Const, so that no operator changes a
// copy.
template <class T>
constexpr const T& plain(const T& x) noexcept {
  return x;
}
template <class T>
const std::remove_cv_t<T> plain(const global_ref<T>& r) {
  return r;
}
template <class X>
using plain_type = std::remove_cvref_t<decltype(plain(std::declval<const X&>()))>;

// The type of a result, but a copy of what may be part of a value that was read for it.
template <class Result>
using safe_result = std::conditional_t<std::is_lvalue_reference_v<Result> &&
                                           !std::is_const_v<std::remove_reference_t<Result>>,
                                       Result, std::remove_cvref_t<Result>>;

template <class T, class X>
concept assigned_only = !std::is_convertible_v<const X&, std::remove_cv_t<T>> &&
                        std::is_assignable_v<T&, const plain_type<X>&>;
template <class T>
concept pointer_like = std::is_pointer_v<T> || requires(const T& x) {
  x.operator->();
};
template <class T, class I>
concept takes_index = std::is_class_v<T> && requires(const T& x, const I& i) {
  x[plain(i)];
};

// The operators of these types are built into the language, so a conversion to them is enough.
template <class T>
concept has_only_built_in_operators =
    std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T>;

// Conversions of T that the language does not make from the conversion to T: base of Ref, which is
// global_ref<T>. Of arithmetic types and unscoped enumerations there are none.
template <class Ref, class T>
struct ref_casts {};

// Classes have those conversions to scalars that are operators of the class.
template <class Ref, class T>
requires(std::is_class_v<T> || std::is_union_v<T>) struct ref_casts<Ref, T> {
  template <class U>
  requires std::is_scalar_v<U> && requires(const T& x) { static_cast<U>(x); }
  explicit(!std::is_convertible_v<const T&, U>) operator U() const {
    return static_cast<U>(plain(static_cast<const Ref&>(*this)));
  }
};

// Scoped enumerations have casts to numbers, one by one, since g++ refuses a switch on what a
// template might convert.
template <class Ref, class U>
struct ref_cast_to {
  explicit operator U() const { return static_cast<U>(plain(static_cast<const Ref&>(*this))); }
};
template <class Ref, class... U>
struct ref_casts_to : ref_cast_to<Ref, U>... {};
template <class Ref, class T>
requires(std::is_enum_v<T> && !std::is_convertible_v<T, int>) struct ref_casts<Ref, T>
    : ref_casts_to<Ref, bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t,
                   char32_t, short, unsigned short, int, unsigned, long, unsigned long, long long,
                   unsigned long long, float, double, long double> {
};

}  // namespace detail

// The operators of splitc/access/ref_operators.h are in a namespace of their own, which only a base
// that is in it leads to: so they are no candidates for other operands, nor in errors about these.
namespace ref_operators {
struct base {};
}  // namespace ref_operators

// The place of a T in the memory of some process: a global_ptr and an index. Making, copying and
// passing one accesses nothing. It is valid as long as the object is there.
template <class T>
class global_ref : public detail::ref_casts<global_ref<T>, std::remove_cv_t<T>>,
                   public ref_operators::base {
 public:
  using value_type = std::remove_cv_t<T>;

  // Element `i` from `p`, as it stands at `where`: that is the place of each access through it, and
  // if it is none, the function is that calls. (A template, so that `r = {0, 1}` is a value and
  // never a reference.)
  template <std::same_as<global_ptr<T>> P>
  explicit constexpr global_ref(P p, std::ptrdiff_t i = 0, am::SourceLocation where = {}) noexcept
      : pointer_(p), index_(i), where_(where) {}

  // Another name for the same object. Written out because compilers pass what is trivially copied
  // through `...`; and not movable, which keeps std::swap and std::exchange away: they would take a
  // reference for the value that they save. swap(a[i], a[j]) is found without `std::`.
  constexpr global_ref(const global_ref& other) noexcept
      : pointer_(other.pointer_), index_(other.index_), where_(other.where_) {}
  global_ref(global_ref&&) = delete;

  // Reads the object, as read(p) does, and waits for the value.
  operator value_type() const { return detail::read_at(pointer_, index_, {"read", where_}); }

  // Writes the object, as write(p, x) does.
  const global_ref& operator=(const value_type& x) const requires detail::writable<T> {
    detail::write_at(pointer_, index_, x, {"write", where_});
    return *this;
  }
  void operator=(
      detail::refused<"the elements are const: they cannot be written through this pointer">) const
      requires(!detail::writable<T>);
  // Assigns the value, not the reference, as for T&.
  const global_ref& operator=(const global_ref& other) const requires detail::writable<T> {
    return *this = other.read_now();
  }
  // What only an assignment of T's takes, such as another kind of reference.
  template <class X>
  requires detail::assigned_only<T, X>
  const global_ref& operator=(const X& x) const {
    value_type v = read_now();
    v = detail::plain(x);
    return *this = v;
  }

// Read, compute here, write. Not atomic.
#define SPLITC_COMPOUND(op)                                       \
  template <class X = value_type>                                 \
  requires requires(T & v, const X& x) { v op detail::plain(x); } \
  const global_ref& operator op(const X& x) const {               \
    value_type v = read_now();                                    \
    v op detail::plain(x);                                        \
    return *this = v;                                             \
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

// (clang 14 takes ++ of a bool for an error even where it is asked whether there is one.)
#define SPLITC_STEP(op)                                                                      \
  const global_ref& operator op() const requires(!std::same_as<value_type, bool>) &&         \
      requires(T & v) {                                                                      \
    op v;                                                                                    \
  }                                                                                          \
  {                                                                                          \
    value_type v = read_now();                                                               \
    op v;                                                                                    \
    return *this = v;                                                                        \
  }                                                                                          \
  auto operator op(int) const requires(!std::same_as<value_type, bool>) && requires(T & v) { \
    v op;                                                                                    \
  }                                                                                          \
  {                                                                                          \
    value_type v = read_now();                                                               \
    auto before = v op;                                                                      \
    *this = v;                                                                               \
    return before;                                                                           \
  }
  SPLITC_STEP(++)
  SPLITC_STEP(--)
#undef SPLITC_STEP

  // For pointers, and objects that behave like one: reads the object and follows its value.
  value_type operator->() const requires detail::pointer_like<value_type> { return *this; }
  template <class I>
  requires detail::takes_index<value_type, I>
  decltype(auto) operator[](const I& i) const {
    using Result = decltype(std::declval<const value_type&>()[detail::plain(i)]);
    return static_cast<detail::safe_result<Result>>(read_now()[detail::plain(i)]);
  }
  template <class I>
  requires std::is_arithmetic_v<value_type>
  void operator[](const I&) const = delete;  // an element is no block: a.on(p)[k], or a[p * b + k]

  // The pointer to the object. Accesses nothing.
  constexpr global_ptr<T> operator&() const { return pointer_ + index_; }
  // The address in two parts, of which loops change one: the object is element index() from
  // origin().
  constexpr global_ptr<T> origin() const noexcept { return pointer_; }
  constexpr std::ptrdiff_t index() const noexcept { return index_; }
  // Where it stands in the program.
  constexpr am::SourceLocation where() const noexcept { return where_; }

 private:
  const value_type read_now() const { return *this; }

  friend void swap(global_ref a, global_ref b) requires detail::writable<T> {
    const value_type x = a;
    a = b.read_now();
    b = x;
  }
  friend void swap(global_ref a, value_type& b) requires detail::writable<T> {
    const value_type x = a;
    a = b;
    b = x;
  }
  friend void swap(value_type& a, global_ref b) requires detail::writable<T> { swap(b, a); }

  global_ptr<T> pointer_;
  std::ptrdiff_t index_;
  am::SourceLocation where_;
};

// Of the pointer to the object: toproc(a[i]), tolocal(a[i]).
template <class T>
constexpr std::uint32_t toproc(const global_ref<T>& r) noexcept {
  return toproc(&r);
}
template <class T>
T* tolocal(const global_ref<T>& r) {
  return tolocal(&r, r.where());
}

}  // namespace splitc

#include "splitc/access/ref_operators.h"
