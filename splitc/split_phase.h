#pragma once

#include "splitc/access.h"
#include "splitc/sync.h"

// Split-phase access: start now, wait for all at once with sync().
//
// Between the start and sync() the destination of a get and the target of a put are undefined, and
// operations happen in any order, even those to one address (Split-C's `:=`).

namespace splitc {

// local := *p. `local` must live until the operation is complete.
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, global_ptr<T> p) {
  local = detail::load<std::remove_cv_t<T>>(detail::address(p, "get"), __ATOMIC_RELAXED);
  return {};
}

// *p := value. Complete, after sync(), means that every process sees the value.
template <class T>
inline handle put(global_ptr<T> p, const std::type_identity_t<T>& value) {
  detail::save<T>(detail::address(p, "put"), value, __ATOMIC_RELAXED);
  return {};
}

// The same through references, as in get(local, a[i]).
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, const global_ref<T>& r) {
  return get(local, &r);
}
template <class T>
inline handle put(const global_ref<T>& r, const std::type_identity_t<T>& value) {
  return put(&r, value);
}

}  // namespace splitc
