#pragma once

#include "splitc/access.h"
#include "splitc/sync.h"

// Split-phase access: start now, wait for all at once with sync().
//
// Between the start and sync() the destination of a get and the target of a put are undefined, and
// operations happen in any order, even those to one address (Split-C's `:=`).

namespace splitc {

namespace detail {

template <class T>
inline handle get_from(std::remove_cv_t<T>& local, const std::byte* from) {
  local = *reinterpret_cast<const std::remove_cv_t<T>*>(from);
  return {};
}
template <class T>
inline handle put_to(std::byte* to, const T& value) {
  *reinterpret_cast<T*>(to) = value;
  return {};
}

}  // namespace detail

// local := *p. `local` must live until the operation is complete.
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, global_ptr<T> p) {
  return detail::get_from<T>(local, detail::address(p, "get"));
}

// *p := value. Complete, after sync(), means that every process sees the value.
template <class T>
inline handle put(global_ptr<T> p, const std::type_identity_t<T>& value) {
  return detail::put_to<T>(detail::address(p, "put"), value);
}

// The same through references, as in get(local, a[i]).
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, const global_ref<T>& r) {
  return detail::get_from<T>(local, r.address("get"));
}
template <class T>
inline handle put(const global_ref<T>& r, const std::type_identity_t<T>& value) {
  return detail::put_to<T>(r.address("put"), value);
}

}  // namespace splitc
