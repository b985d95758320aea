#pragma once

#include "splitc/access/access.h"
#include "splitc/world/sync.h"

// Split-phase access: start now, wait for all at once with sync().
//
// Between the start and sync() the destination of a get and the target of a put are undefined, and
// operations happen in any order, even those to one address (Split-C's `:=`).

namespace splitc {

namespace detail {

// An access that the compiler may move and join with others. Large objects may overlap, as the own
// segment is local memory, too.
template <class T>
inline void copy_plain(T& to, const T& from) {
  if constexpr (moves_whole<T>) {
    to = from;
  } else {
    std::memmove(&to, &from, sizeof(T));
  }
}

// Of element i from p.
template <class T>
inline handle get_at(std::remove_cv_t<T>& local, global_ptr<T> p, std::ptrdiff_t i) {
  check_access(p, i, "get");
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const handle started = far_get(&local, (p + i).bits(), sizeof(T), "get");
    base_stays(base, p.bits());
    return started;
  }
  copy_plain(local, *reinterpret_cast<const std::remove_cv_t<T>*>(mapped(base, p.bits()) +
                                                                  i * signed_size<T>));
  return {};
}
template <class T>
inline handle put_at(global_ptr<T> p, std::ptrdiff_t i, const T& value) {
  check_access(p, i, "put");
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const T copy = value;
    const handle started = far_put_value((p + i).bits(), &copy, sizeof(T), "put");
    base_stays(base, p.bits());
    return started;
  }
  copy_plain(*reinterpret_cast<T*>(mapped(base, p.bits()) + i * signed_size<T>), value);
  return {};
}

}  // namespace detail

// local := *p. `local` must live until the operation is complete.
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, global_ptr<T> p) {
  return detail::get_at<T>(local, p, 0);
}

// *p := value. Complete, after sync(), means that every process sees the value.
template <detail::writable T>
inline handle put(global_ptr<T> p, const std::type_identity_t<T>& value) {
  return detail::put_at<T>(p, 0, value);
}

// The same through references, as in get(local, a[i]).
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, const global_ref<T>& r) {
  return detail::get_at<T>(local, r.origin(), r.index());
}
template <detail::writable T>
inline handle put(const global_ref<T>& r, const std::type_identity_t<T>& value) {
  return detail::put_at<T>(r.origin(), r.index(), value);
}

}  // namespace splitc
