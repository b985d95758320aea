#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
#include "splitc/access/access.h"
#include "splitc/access/shapes.h"
#include "splitc/access/split_phase.h"
#include "splitc/access/store.h"
#include "splitc/world/elements.h"
#include "splitc/world/sync.h"

// Get, put and store of lists of elements, each as one operation: of one process, named by their
// indices (gather and scatter), or of any processes, named by global pointers.
//
//   std::vector<double> x(columns.size());
//   get_indexed(x, theirs, columns);                              // x[i] = theirs[columns[i]]
//   sync();
//
//   get_each(x, pointers);                                        // x[i] = *pointers[i]
//
//                                  like      complete               the local memory
//   get_indexed    get_each        get       at sync()              lives, and is left alone, until
//                                                                   then
//   put_indexed    put_each        put       at sync()              may be reused on return
//   store_indexed  store_each      store     where it is counted    may be reused on return
//
// Elements, indices and pointers are given as spans, vectors, arrays .. (`elements`,
// splitc/world/elements.h). Indices and pointers may be reused on return. The local elements
// correspond to them one by one. A list may name an element more than once: a get reads it as
// often; after a put or a store it has one of the values. Undefined: local and global elements
// overlap. Empty lists are allowed, and nothing is checked then.
//
// What each costs, and where it may be called:
//
//   route               cost                                            allowed
//   near (same node)    a pass over all indices, a load and a store     any thread (store: the
//                       for each element                                world's), handlers
//   far (other node)    a message and its answer (store: none) for each program's threads,
//                       4 KiB of elements, of indices (4 bytes where    outside handlers
//                       they fit), or, to write, of both. Those of
//                       get_each and its sisters travel process by
//                       process, and are sorted by it first
//
// Waiting. A far operation waits, and polls, while the credits for messages to a process are in
// use: 16 pieces. Gets and puts allocate some hundred bytes, those of pointers 40 for each far
// element. The owner answers when it polls, whatever the network (docs/progress.md).
//
// Errors. As those of get, put and store, for the memory from the base to the element with the
// largest index, and in every build near, too; the checked build checks that all of that lies in
// one live block. Also: list and span have different lengths. When an Error of this call is thrown,
// nothing has been started, except that some elements on this node may have been copied; what a
// handler throws while it waits comes out when everything has been sent.

namespace splitc {
namespace detail {

// What indices are: unsigned numbers of 4 or 8 bytes.
template <class I>
concept index_like = std::unsigned_integral<std::remove_const_t<I>> &&
    (sizeof(I) == 4 || sizeof(I) == 8);
template <class R>
concept indices_like = elements<R> && index_like<ElementOf<R>>;

template <class T, class I>
GlobalShape global_list(global_ptr<T> base, std::span<I> indices, std::size_t local, Call call) {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  check_sizes(local, indices.size(), call);
  return {base.bits(),
          Shape::listed(sizeof(T), sizeof(T), {indices.data(), indices.size(), sizeof(I) == 8}),
          needed_alignment<T>};
}
// Calls near(i, base) for all of `pointers` that are on this node, when those on others have been
// noted and checked; returns these.
template <class P, class Near>
std::vector<FarElement> sort_out(std::span<P> pointers, std::size_t local, Call call, Near near) {
  using T = typename P::element_type;
  check_sizes(local, pointers.size(), call);
  std::vector<FarElement> far;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    check_access(pointers[i], 0, call);
    const std::uint64_t bits = pointers[i].bits();
    if (mapping_of(bits) != far_base()) continue;
    check_far(bits, sizeof(T), call);
    far.push_back({bits, i});
  }
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    std::byte* const base = mapping_of(pointers[i].bits());
    if (base == far_base()) continue;
    note_near(pointers[i].bits(), sizeof(T), call);
    near(i, base);
  }
  return far;
}

}  // namespace detail

// Starts copying base[indices[i]] to local[i], for all i. `local` lives, and is left alone, until
// completion: sync(), or sync() of the handle.
template <lasting_elements R, detail::indices_like I>
inline handle get_indexed(R&& local, global_ptr<const detail::ValueOf<R>> base, const I& indices,
                          am::Here where = {}) {
  const detail::Call call("get_indexed", where);
  const auto to = detail::destination_of(local);
  return detail::get_shape(detail::local_array(to),
                           detail::global_list(base, detail::span_of(indices), to.size(), call),
                           call);
}
// Starts copying local[i] to base[indices[i]], for all i. `local` may be reused on return. Complete
// at sync(), or sync() of the handle.
template <detail::writable T, detail::indices_like I>
inline handle put_indexed(global_ptr<T> base, const I& indices,
                          std::span<std::type_identity_t<const T>> local, am::Here where = {}) {
  const detail::Call call("put_indexed", where);
  return detail::put_shape(detail::global_list(base, detail::span_of(indices), local.size(), call),
                           detail::local_array(local), call);
}
// Stores the elements without an answer: the bytes of all are added to the target's `counter` when
// they have landed, far in parts.
template <detail::writable T, detail::indices_like I>
inline void store_indexed(global_ptr<T> base, const I& indices,
                          std::span<std::type_identity_t<const T>> local,
                          store_counter& counter = store_counter::default_counter(),
                          am::Here where = {}) {
  const detail::Call call("store_indexed", where);
  detail::store_shape(detail::global_list(base, detail::span_of(indices), local.size(), call),
                      detail::local_array(local), counter, call);
}

// Starts copying *from[i] to local[i], for all i: as get_indexed, from any processes.
template <lasting_elements R>
inline handle get_each(R&& local_elements, std::span<const global_ptr<detail::ValueOf<R>>> from,
                       am::Here where = {}) {
  using T = detail::ValueOf<R>;
  const detail::Call call("get_each", where);
  const std::span<T> local = detail::destination_of(local_elements);
  auto far = detail::sort_out(from, local.size(), call, [&](std::size_t i, std::byte* base) {
    detail::copy_plain(local[i], *reinterpret_cast<T*>(detail::mapped(base, from[i].bits())));
  });
  if (far.empty()) return {};
  return detail::get_each(detail::bytes_at(local.data()), far, sizeof(T), call);
}
// Starts copying local[i] to *to[i], for all i: as put_indexed, to any processes.
template <elements R>
inline handle put_each(std::span<const global_ptr<detail::ValueOf<const R>>> to,
                       const R& local_elements, am::Here where = {}) {
  using T = detail::ValueOf<const R>;
  const detail::Call call("put_each", where);
  const std::span<const T> local = detail::span_of(local_elements);
  auto far = detail::sort_out(to, local.size(), call, [&](std::size_t i, std::byte* base) {
    detail::copy_plain(*reinterpret_cast<T*>(detail::mapped(base, to[i].bits())), local[i]);
  });
  if (far.empty()) return {};
  return detail::put_each(far, detail::bytes_at(local.data()), sizeof(T), call);
}
// Stores them without an answer: each process counts the bytes that have landed there.
template <elements R>
inline void store_each(std::span<const global_ptr<detail::ValueOf<const R>>> to,
                       const R& local_elements,
                       store_counter& counter = store_counter::default_counter(),
                       am::Here where = {}) {
  using T = detail::ValueOf<const R>;
  const detail::Call call("store_each", where);
  const std::span<const T> local = detail::span_of(local_elements);
  auto far = detail::sort_out(to, local.size(), call, [&](std::size_t i, std::byte* base) {
    detail::save<T>(detail::mapped(base, to[i].bits()), local[i], __ATOMIC_RELAXED);
    counter.count(base, to[i].bits(), sizeof(T));
  });
  if (!far.empty()) {
    detail::store_each(far, detail::bytes_at(local.data()), sizeof(T), counter, call);
  }
}

}  // namespace splitc
