#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/access/access.h"
#include "splitc/access/shapes.h"
#include "splitc/access/store.h"
#include "splitc/pointer/strided.h"
#include "splitc/world/elements.h"
#include "splitc/world/sync.h"

// Get, put and store of columns, blocks and faces of arrays, each as one operation: as bulk_get,
// bulk_put and bulk_store, of elements that need not lie one behind the other. A `strided`
// (splitc/pointer/strided.h) says which.
//
//   std::vector<double> column(n);
//   get_strided(column, a + j, {.rows = n, .row_stride = m});    // of double a[n][m]
//   sync();
//
//   const strided face{.rows = ny, .planes = nz, .row_stride = nx, .plane_stride = ny * nx};
//   store_strided(theirs, face, mine + nx - 1, face);        // my last layer is their first
//
//                   like      complete               the local memory
//   get_strided     get       at sync()              lives, and is left alone, until then
//   put_strided     put       at sync()              may be reused on return
//   store_strided   store     where it is counted    may be reused on return
//
// The two sides. On the global side a shape begins at the pointer, and all of it lies in the memory
// of one process. The local side is `elements` (splitc/world/elements.h: a span, vector, array ..),
// which lie one behind the other, or a pointer
// and a shape of its own; elements correspond by their order. Local memory is any memory of this
// process. A shape of no elements is allowed, and nothing is checked then.
//
// Undefined: the sides overlap; elements of a destination do (a stride shorter than a run). A
// source may have such: a stride of 0 reads a run again.
//
// What each costs, and where it may be called:
//
//   route               cost                                            allowed
//   near (same node)    a load and a store for each run of 1, 2, 4, 8   any thread (store: the
//                       or 16 bytes, else a memcpy for each run         world's), handlers
//   far (other node)    a message and its answer (store: none) for each program's threads,
//                       4 KiB: the owner gathers and scatters. 1,000    outside handlers
//                       doubles take 1.5 times as long as a bulk_get
//
// Waiting. A far operation waits, and polls, while the credits for messages to that process are in
// use: 64 pieces of gets, 16 of puts and stores. Get and put allocate some hundred bytes. The owner
// answers when it polls, whatever the network (docs/progress.md).
//
// Errors. As those of bulk_get, for the memory from the first element to the last, and in every
// build near, too; the checked build checks that all of that lies in one live block. Also: the two
// sides have different numbers of elements; a shape reaches further than any memory. When an Error
// of this call is thrown, nothing has been started; what a handler throws while it waits comes out
// when everything has been sent.

namespace splitc {
namespace detail {

template <class T>
GlobalShape global_shape(global_ptr<T> p, const strided& shape, std::uint64_t local, Call call) {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  const GlobalShape made{p.bits(), {in_bytes(shape, sizeof(T), call), {}}, needed_alignment<T>};
  check_sizes(local, shape.size(), call);
  return made;
}
template <class T>
LocalShape local_shape(const T* local, const strided& shape, Call call) {
  return {bytes_at(local), {in_bytes(shape, sizeof(T), call), {}}};
}

}  // namespace detail

// Starts copying the elements of `from_shape` from `from` on to those of `local_shape` from `local`
// on, or to a span of as many, which live, and are left alone, until completion: sync(), or sync()
// of the handle.
template <detail::writable T>
inline handle get_strided(T* local, const strided& local_shape,
                          global_ptr<std::type_identity_t<const T>> from, const strided& from_shape,
                          am::Here where = {}) {
  const detail::Call call("get_strided", where);
  const auto theirs = detail::global_shape(from, from_shape, local_shape.size(), call);
  return detail::get_shape(detail::local_shape(local, local_shape, call), theirs, call);
}
template <lasting_elements R>
inline handle get_strided(R&& local, global_ptr<const detail::ValueOf<R>> from,
                          const strided& from_shape, am::Here where = {}) {
  const detail::Call call("get_strided", where);
  const auto to = detail::destination_of(local);
  const auto theirs = detail::global_shape(from, from_shape, to.size(), call);
  return detail::get_shape(detail::local_array(to), theirs, call);
}

// Starts copying the elements of `local_shape` from `local` on, or of a span, to those of
// `to_shape` from `to` on. The local ones may be reused on return. Complete at sync(), or sync() of
// the handle.
template <detail::writable T>
inline handle put_strided(global_ptr<T> to, const strided& to_shape,
                          const std::type_identity_t<T>* local, const strided& local_shape,
                          am::Here where = {}) {
  const detail::Call call("put_strided", where);
  const auto theirs = detail::global_shape(to, to_shape, local_shape.size(), call);
  return detail::put_shape(theirs, detail::local_shape(local, local_shape, call), call);
}
template <detail::writable T>
inline handle put_strided(global_ptr<T> to, const strided& to_shape,
                          std::span<std::type_identity_t<const T>> local, am::Here where = {}) {
  const detail::Call call("put_strided", where);
  const auto theirs = detail::global_shape(to, to_shape, local.size(), call);
  return detail::put_shape(theirs, detail::local_array(local), call);
}

// Stores the elements without an answer: the bytes of all are added to the target's `counter` when
// they have landed, far in parts.
template <detail::writable T>
inline void store_strided(global_ptr<T> to, const strided& to_shape,
                          const std::type_identity_t<T>* local, const strided& local_shape,
                          store_counter& counter = store_counter::default_counter(),
                          am::Here where = {}) {
  const detail::Call call("store_strided", where);
  const auto theirs = detail::global_shape(to, to_shape, local_shape.size(), call);
  detail::store_shape(theirs, detail::local_shape(local, local_shape, call), counter, call);
}
template <detail::writable T>
inline void store_strided(global_ptr<T> to, const strided& to_shape,
                          std::span<std::type_identity_t<const T>> local,
                          store_counter& counter = store_counter::default_counter(),
                          am::Here where = {}) {
  const detail::Call call("store_strided", where);
  const auto theirs = detail::global_shape(to, to_shape, local.size(), call);
  detail::store_shape(theirs, detail::local_array(local), counter, call);
}

}  // namespace splitc
