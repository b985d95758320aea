#pragma once

#include <cstring>

#include "splitc/access/access.h"
#include "splitc/world/refused.h"
#include "splitc/world/sync.h"

// Split-phase reads and writes of one object: start many now, and wait for all of them at once.
// Split-C's `:=`, where local := *p is get(local, p) and *p := value is put(p, value).
//
//   double left, right;
//   get(left, p - 1);      // both are in flight together,
//   get(right, p + 1);
//   sync();                // so both take about one round trip
//   x = (left + right) / 2;
//
// A whole array of reads, and one operation that is waited for earlier than the others:
//
//   for (std::size_t i = 0; i < n; ++i) get(in[i], sources[i]);   // all in flight at once
//   const handle first = get(key, p);
//   sync(first);                                                  // key is there, in[] may not be
//   work(key);
//   sync();                                                       // now everything is
//
// Completion. An operation is complete when sync() has returned, or sync(handle), or a try_sync()
// that returned true (splitc/world/sync.h). Then the value of a get is in `local`, and a put is
// visible to every process. A barrier() completes none of them.
//
// Order. Between the start and the completion the contents of `local` and of the target of a put
// are undefined, and operations are performed in any order, even two to the same address. Objects
// of 1, 2, 4 or 8 aligned bytes move whole; larger ones may be seen half written.
//
// Ownership. `local` must stay where it is, and neither be read nor written, until completion. The
// value given to put() is copied before it returns.
//
// What each costs, and where it may be called:
//
//   route               cost                                              allowed
//   near (same node)    a plain load and store, which the compiler may    any thread, handlers
//                       vectorise: 64 of them and a sync() 0.3 ns each
//   far (other node)    starts one RMA operation or one message; many     program's threads,
//                       at once cost little more than one. A value        outside handlers
//                       above 64 bytes is copied to the heap
//
// Waiting. A near operation never waits. A far one waits, and polls, only while the network has no
// room for another operation.
//
// Errors are those of read() and write() (splitc/access/access.h). When an Error is thrown, nothing
// has been started.

namespace splitc {

namespace detail {

// A plain copy, which the compiler may move and join with others. Large objects may overlap, as
// this process's own segment is local memory, too.
template <class T>
inline void copy_plain(T& to, const T& from) {
  if constexpr (moves_whole<T>) {
    to = from;
  } else {
    std::memmove(&to, &from, sizeof(T));
  }
}

// What get() and put() do, for element i from p. The process is looked up by p alone, so a loop
// over i does so once.
template <class T>
inline handle get_at(std::remove_cv_t<T>& local, global_ptr<T> p, std::ptrdiff_t i,
                     am::SourceLocation where) {
  check_access(p, i, {"get", where});
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const handle started = far_get(&local, (p + i).bits(), sizeof(T), {"get", where});
    base_stays(base, p.bits());
    return started;
  }
  copy_plain(local, *reinterpret_cast<const std::remove_cv_t<T>*>(mapped(base, p.bits()) +
                                                                  i * signed_size<T>));
  return {};
}
// Puts as get_at() gets. A far value is copied before return.
template <class T>
inline handle put_at(global_ptr<T> p, std::ptrdiff_t i, const T& value, am::SourceLocation where) {
  check_access(p, i, {"put", where});
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const T copy = value;
    const handle started = far_put((p + i).bits(), &copy, sizeof(T), Source::kGoes, {"put", where});
    base_stays(base, p.bits());
    return started;
  }
  copy_plain(*reinterpret_cast<T*>(mapped(base, p.bits()) + i * signed_size<T>), value);
  return {};
}

}  // namespace detail

// local := *p. Starts reading the object at `p` into `local`, which must live until completion.
//
// Returns a handle to wait for this operation alone; it may be dropped, as sync() waits for all.
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, global_ptr<T> p,
                  am::Here where = {}) {
  return detail::get_at<T>(local, p, 0, where);
}

// *p := value. Starts writing `value`, which is copied before return, to the object at `p`. Once
// complete, every process sees it.
//
// Returns a handle to wait for this operation alone; it may be dropped, as sync() waits for all.
template <detail::writable T>
inline handle put(global_ptr<T> p, const std::type_identity_t<T>& value, am::Here where = {}) {
  return detail::put_at<T>(p, 0, value, where);
}

// Get and put through references, as in get(local, a[i]) and put(p[i], value).
template <class T>
inline handle get(std::type_identity_t<std::remove_cv_t<T>>& local, const global_ref<T>& r) {
  return detail::get_at<T>(local, r.origin(), r.index(), r.where());
}
template <detail::writable T>
inline handle put(const global_ref<T>& r, const std::type_identity_t<T>& value) {
  return detail::put_at<T>(r.origin(), r.index(), value, r.where());
}
void get(detail::refused<"get(local, p): local has the type of the elements and is not const; p is "
                         "&a[i], a[i], another global_ptr, or *s of a spread_ptr s">,
         detail::anything = {});
void put(detail::refused<"put(p, value): the value has the type of the elements, not const; p is "
                         "&a[i], a[i], another global_ptr, or *s of a spread_ptr s">,
         detail::anything = {});

}  // namespace splitc
