#pragma once

#include <cstddef>

#include "splitc/compat/blocks.h"
#include "splitc/compat/field.h"
#include "splitc/compat/lvalue.h"
#include "splitc/world/place.h"

// sizeof of an expression that names objects of other processes: the C++ object that stands for
// them has a size of its own, that of an address. splitc2cc writes these. As with sizeof, nothing
// is evaluated and the number is a constant, unless it depends on dimensions of a spread array;
// then the expression is evaluated, which reads what the array is found by, but no element of it.
// Of all other expressions, and arrays of C's whose length only the run knows, it is sizeof.
// Throws Error if the dimensions are needed before splitc_main().
//
// A pointer of any kind has the size that it has here.
#define SPLITC_SIZE_OF(...)                                                                       \
  (::splitc::compat::detail::size_in_type((__typeof__(__VA_ARGS__)*)0, sizeof(__VA_ARGS__)) != 0  \
       ? ::splitc::compat::detail::size_in_type((__typeof__(__VA_ARGS__)*)0, sizeof(__VA_ARGS__)) \
       : ::splitc::compat::detail::size_of_object(__VA_ARGS__))
// For macros, whose arguments may be types as well as expressions. Sizes that depend on dimensions
// of spread arrays do not compile.
#define SPLITC_SIZE_OF_ANY(...) \
  ::splitc::compat::detail::size_of_any((__typeof__(__VA_ARGS__)*)0, sizeof(__VA_ARGS__))
// sizeof(*p) where p may be `T (*p)[n]` with any n.
#define SPLITC_SIZE_OF_ROW(...) \
  ::splitc::compat::detail::size_of_row((__VA_ARGS__), sizeof(*(__VA_ARGS__)))

namespace splitc::compat::detail {

// The size of an object of type X, given a null pointer to it; 0 if the type does not determine it.
// `own` is its sizeof.
constexpr std::size_t size_in_type(const volatile void*, std::size_t own) { return own; }
template <class P>
constexpr std::size_t size_in_type(const volatile lvalue<P>*, std::size_t) {
  return sizeof(typename lvalue<P>::value_type);
}
template <class Field>
constexpr std::size_t size_in_type(const volatile array_field<Field>*, std::size_t) {
  return sizeof(Field);
}
template <class T, std::size_t R>
constexpr std::size_t size_in_type(const volatile block<T, R>*, std::size_t) {
  return 0;
}
template <class T, std::size_t D, std::size_t R>
constexpr std::size_t size_in_type(const volatile blocks<T, D, R>*, std::size_t) {
  return 0;
}

inline std::size_t known(std::size_t bytes) {
  if (bytes == 0 && splitc::detail::place.bases == nullptr) {
    throw Error(
        "sizeof of a spread array before splitc_main(): its dimensions are not known yet; "
        "write the number of elements * sizeof of their type");
  }
  return bytes;
}
// Only evaluated where size_in_type() is 0.
template <class X>
std::size_t size_of_object(const X&) {
  return sizeof(X);
}
inline std::size_t size_of_object(...) { return 0; }  // an array whose length only the run knows
template <class T, std::size_t R>
std::size_t size_of_object(const block<T, R>& b) {
  return known(b.bytes());
}
template <class T, std::size_t D, std::size_t R>
std::size_t size_of_object(const spread_blocks<T, D, R>& array) {
  return known(array.bytes());
}
// A variable is a pointer, the result of X[i] an array of blocks.
template <class T, std::size_t D, std::size_t R>
std::size_t size_of_object(const blocks<T, D, R>& p) {
  return sizeof(p);
}
template <class T, std::size_t D, std::size_t R>
std::size_t size_of_object(blocks<T, D, R>&& p) {
  return p.bytes() != 0 ? p.bytes() : sizeof(p);
}

template <class X>
constexpr std::size_t size_of_any(X* p, std::size_t own) {
  constexpr std::size_t kBytes = size_in_type(static_cast<X*>(nullptr), 1);
  static_assert(kBytes != 0, "in a macro: write the number of elements * sizeof of their type");
  return size_in_type(p, own);
}
constexpr std::size_t size_of_any(const volatile void*, std::size_t own) { return own; }

template <class T>
std::size_t size_of_row(const rows<T>& p, std::size_t) {
  return p.row_bytes();
}
template <class X>
constexpr std::size_t size_of_row(const X&, std::size_t own) {
  return own;
}
constexpr std::size_t size_of_row(const volatile void*, std::size_t own) { return own; }

}  // namespace splitc::compat::detail
