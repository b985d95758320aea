#pragma once

#include <cstddef>
#include <type_traits>

#include "splitc/compat/blocks.h"
#include "splitc/compat/lvalue.h"
#include "splitc/compat/pointer.h"

// `p->field` and `object.field` where the object may be of another process: splitc2cc writes these
// for names that are declared as global or spread. As C++ cannot pass the name of a field, a lambda
// takes its place. A field is read, written, or pointed to by `&`, and nothing else of the object
// is; an array is a block. Local objects may stand there as well. Bit-fields may not.
// (The lambda is not generic by `auto`, which g++ refuses within the bounds of an array.)
#define SPLITC_SELECT(name)                                                                \
  []<class SplitcObject>(SplitcObject&& splitc_object) -> decltype((splitc_object.name)) { \
    return splitc_object.name;                                                             \
  }
#define SPLITC_FIELD(p, name) ::splitc::compat::field((p), SPLITC_SELECT(name))
#define SPLITC_MEMBER(object_of_any, name) \
  ::splitc::compat::member((object_of_any), SPLITC_SELECT(name))

namespace splitc::compat {

// A field that is an array, `Field` such as int[4]: a block whose lengths its type knows.
template <class Field>
class array_field : public block<std::remove_all_extents_t<Field>, std::rank_v<Field>> {
  using Element = std::remove_all_extents_t<Field>;
  using Base = block<Element, std::rank_v<Field>>;
  static Base block_at(global_ptr<Element> at) {
    if constexpr (std::rank_v<Field> == 1) {
      return Base(at, {std::extent_v<Field>});
    } else {
      static_assert(std::rank_v<Field> == 2,
                    "a field of three dimensions is accessed through a local copy");
      return Base(at, {std::extent_v<Field>, std::extent_v<Field, 1>});
    }
  }

 public:
  explicit array_field(global_ptr<Element> at) : Base(block_at(at)) {}

  auto operator[](std::ptrdiff_t n) const {
    if constexpr (std::rank_v<Field> == 1) {
      return Base::operator[](n);
    } else {
      return array_field<std::remove_extent_t<Field>>(Base::operator[](n).address());
    }
  }
  auto operator*() const { return (*this)[0]; }
};

namespace detail {
// The field that `select` gives of the object at `p`.
template <class S, class Select>
auto field_at(global_ptr<S> p, Select select) {
  using Object = std::remove_cv_t<S>;
  alignas(Object) static constexpr std::byte storage[sizeof(Object)]{};
  const auto& object = *reinterpret_cast<const Object*>(storage);
  using Field =
      std::remove_reference_t<decltype(select(static_cast<S&>(const_cast<Object&>(object))))>;
  using Element = std::remove_all_extents_t<Field>;
  const auto* const field = reinterpret_cast<const std::byte*>(&select(object));
  const auto at = global_ptr<Element>::from_bits(
      p.bits() + static_cast<std::uint64_t>(field - static_cast<const std::byte*>(storage)));
  if constexpr (std::is_array_v<Field>) {
    return array_field<Field>(at);
  } else {
    return lvalue<global<Element>>(global<Element>(at));
  }
}
}  // namespace detail

template <addressed P, class Select>
auto field(const P& p, Select select) {
  return detail::field_at(p.address(), select);
}
template <class T, class Select>
auto& field(T* p, Select select) {
  return select(*p);
}
template <class P, class Select>
decltype(auto) field(const lvalue<P>& p, Select select) {
  return field(p.value(), select);
}

template <class P, class Select>
auto member(const lvalue<P>& object, Select select) {
  return detail::field_at(object.address_of(), select);
}
template <class T, class Select>
requires(!detail::is_lvalue<std::remove_cvref_t<T>>) auto& member(T&& object, Select select) {
  return select(object);
}

}  // namespace splitc::compat
