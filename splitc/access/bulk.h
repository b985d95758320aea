#pragma once

#include <atomic>
#include <cstring>
#include <span>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/access/access.h"
#include "splitc/access/store.h"
#include "splitc/pointer/spread_ptr.h"
#include "splitc/world/elements.h"
#include "splitc/world/refused.h"
#include "splitc/world/sync.h"

// Read, write, get, put and store of ranges of bytes: Split-C's bulk_*. The destination comes
// first; the length is in bytes, or that of elements: a span, std::array, array of C, vector or
// string (splitc/world/elements.h).
//
//                 like          complete               the source may be reused
//   bulk_read     x = *p        on return
//   bulk_write    *p = x        on return              on return
//   bulk_get      get           at sync()
//   bulk_put      put           at sync()              at sync(): put() copies its value, this
//                                                      does not copy its range
//   bulk_store    store         where it is counted    on return
//   start_bulk_store            where it is counted    at sync(), as of bulk_put
//
// Ranges. The global range lies in the memory of one process: it may be part of a spread array, but
// does not continue on the next process. 0 bytes are allowed, and nothing is checked then. Local
// memory is any memory of this process. Where it is part of its segment the two ranges may overlap,
// and the result is that of memmove.
//
//   std::vector<double> row(m);
//   bulk_get(row, a.on(p) + k * m);                 // a row of what process p owns
//   sync();
//
// Order and visibility are those of the same operations on one object (splitc/access/access.h,
// split_phase.h, store.h). The bytes are copied as by memcpy: a concurrent reader may see some of
// them new and some old.
//
// What each costs, and where it may be called:
//
//   route               cost                                            allowed
//   near (same node)    one memmove by the caller: 1 MiB at 19.5 GB/s,  any thread (store: the
//                       where memcpy does 18.7                          world's), handlers
//   far (other node)    one RMA read or write, or packets of 4 KiB;     program's threads,
//                       read and write wait for it, and store for its   outside handlers
//                       source above 4 KiB
//
// Errors. As on one object; the checked build checks that the range lies inside one live block. The
// forms with elements throw Error if the bytes of the span are more than a 64-bit number holds.

namespace splitc {
namespace detail {

// Checked builds: throws Error unless the range lies in one live block.
template <class T>
inline void check_bulk([[maybe_unused]] global_ptr<T> p, [[maybe_unused]] std::size_t bytes,
                       [[maybe_unused]] Call call) {
  static_assert(std::is_void_v<T> || std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  if constexpr (am::kChecked) check_range(p.proc(), p.offset(), bytes, call);
}
// memmove(), which does not take null pointers, even for 0 bytes.
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

// The bytes of a span, which was perhaps made with a wrong length: Error if they are too many.
template <class T>
inline std::size_t bytes_of(std::span<T> local, Call call) {
  return product(local.size(), "elements", sizeof(T), "bytes", call);
}

}  // namespace detail

// Copies `bytes` bytes from `from` on to `local`. On return they are there. An acquire, as read().
template <class T>
inline void bulk_read(void* local, global_ptr<T> from, std::size_t bytes, am::Here where = {}) {
  detail::check_bulk(from, bytes, {"bulk_read", where});
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_read(local, from.bits(), bytes, {"bulk_read", where});
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
  // pairs with: write() and bulk_write()
  std::atomic_thread_fence(std::memory_order_acquire);
}
// Copies `bytes` bytes from `local` to `to` on. On return they are at their target, visible to
// every process, and `local` may be reused. A release, as write().
template <detail::writable T>
inline void bulk_write(global_ptr<T> to, const void* local, std::size_t bytes,
                       am::Here where = {}) {
  detail::check_bulk(to, bytes, {"bulk_write", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_write(to.bits(), local, bytes, {"bulk_write", where});
  // pairs with: read() and bulk_read()
  std::atomic_thread_fence(std::memory_order_release);
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
}
// Starts copying `bytes` bytes from `from` on to `local`, which must live, and be left alone, until
// completion: sync(), or sync() of the handle. Waits only while the network has no room.
template <class T>
inline handle bulk_get(void* local, global_ptr<T> from, std::size_t bytes, am::Here where = {}) {
  detail::check_bulk(from, bytes, {"bulk_get", where});
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_get(local, from.bits(), bytes, {"bulk_get", where});
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
  return {};
}
// Starts copying `bytes` bytes from `local` to `to` on. `local` must live, unchanged, until
// completion: sync(), or sync() of the handle. Waits only while the network has no room.
template <detail::writable T>
inline handle bulk_put(global_ptr<T> to, const void* local, std::size_t bytes,
                       am::Here where = {}) {
  detail::check_bulk(to, bytes, {"bulk_put", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_put(to.bits(), local, bytes, detail::Source::kStays, {"bulk_put", where});
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  return {};
}
// Copies `bytes` bytes from `local` to `to` on, and adds `bytes` to the target's `counter` when
// they have landed. `local` may be reused on return, for which a far store above 4 KiB waits. One
// that comes the third time, with the same target, size and counter, is given a put channel, which
// saves the packet (docs/channels.md).
template <detail::writable T>
inline void bulk_store(global_ptr<T> to, const void* local, std::size_t bytes,
                       store_counter& counter = store_counter::default_counter(),
                       am::Here where = {}) {
  detail::check_bulk(to, bytes, {"bulk_store", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return counter.store_far(to.bits(), local, bytes, {"bulk_store", where});
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  counter.count(base, to.bits(), bytes);
}

// Starts a bulk_store() and waits for nothing but room in the network: `local` lives unchanged
// until the handle is complete, or sync() has returned. It says nothing of what has landed: that is
// counted there, as of bulk_store().
//
// It is for work between the call and sync(), not for bandwidth. Eight of 1 MiB between two nodes,
// TCP on the loopback, return in 0.5 to 1.3 ms where bulk_store() takes 1.1 to 1.3, and have landed
// at the same time.
template <detail::writable T>
inline handle start_bulk_store(global_ptr<T> to, const void* local, std::size_t bytes,
                               store_counter& counter = store_counter::default_counter(),
                               am::Here where = {}) {
  detail::check_bulk(to, bytes, {"start_bulk_store", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return counter.start_store_far(to.bits(), local, bytes, {"start_bulk_store", where});
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  counter.count(base, to.bits(), bytes);
  return {};
}

// The bulk calls for elements, which give the length. A temporary is refused by the compiler where
// the call is split-phase, since it would be gone while its bytes are in flight.
template <elements R>
inline void bulk_read(R&& local, global_ptr<const detail::ValueOf<R>> from, am::Here where = {}) {
  const auto to = detail::destination_of(local);
  bulk_read(to.data(), from, detail::bytes_of(to, {"bulk_read", where}), where);
}
template <detail::writable T>
inline void bulk_write(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       am::Here where = {}) {
  bulk_write(to, local.data(), detail::bytes_of(local, {"bulk_write", where}), where);
}
template <lasting_elements R>
inline handle bulk_get(R&& local, global_ptr<const detail::ValueOf<R>> from, am::Here where = {}) {
  const auto to = detail::destination_of(local);
  return bulk_get(to.data(), from, detail::bytes_of(to, {"bulk_get", where}), where);
}
template <detail::writable T, lasting_elements R>
requires std::is_same_v<detail::ValueOf<R>, T>
inline handle bulk_put(global_ptr<T> to, R&& local, am::Here where = {}) {
  const auto from = detail::span_of(local);
  return bulk_put(to, from.data(), detail::bytes_of(from, {"bulk_put", where}), where);
}
template <detail::writable T>
inline void bulk_store(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       store_counter& counter = store_counter::default_counter(),
                       am::Here where = {}) {
  bulk_store(to, local.data(), detail::bytes_of(local, {"bulk_store", where}), counter, where);
}
template <detail::writable T, lasting_elements R>
requires std::is_same_v<detail::ValueOf<R>, T>
inline handle start_bulk_store(global_ptr<T> to, R&& local,
                               store_counter& counter = store_counter::default_counter(),
                               am::Here where = {}) {
  const auto from = detail::span_of(local);
  return start_bulk_store(to, from.data(), detail::bytes_of(from, {"start_bulk_store", where}),
                          counter, where);
}

// The bulk calls from or to the place that a spread pointer points to: the range lies in the memory
// of that one process, as everywhere here, and does not go on at the next one.
template <class T>
inline void bulk_read(void* local, spread_ptr<T> from, std::size_t bytes, am::Here where = {}) {
  bulk_read(local, global_ptr<T>(from), bytes, where);
}
template <detail::writable T>
inline void bulk_write(spread_ptr<T> to, const void* local, std::size_t bytes,
                       am::Here where = {}) {
  bulk_write(global_ptr<T>(to), local, bytes, where);
}
template <class T>
inline handle bulk_get(void* local, spread_ptr<T> from, std::size_t bytes, am::Here where = {}) {
  return bulk_get(local, global_ptr<T>(from), bytes, where);
}
template <detail::writable T>
inline handle bulk_put(spread_ptr<T> to, const void* local, std::size_t bytes,
                       am::Here where = {}) {
  return bulk_put(global_ptr<T>(to), local, bytes, where);
}
template <detail::writable T>
inline void bulk_store(spread_ptr<T> to, const void* local, std::size_t bytes,
                       store_counter& counter = store_counter::default_counter(),
                       am::Here where = {}) {
  bulk_store(global_ptr<T>(to), local, bytes, counter, where);
}

#define SPLITC_OTHERWISE(call, name)                                                           \
  void name(                                                                                   \
      detail::refused<call ", or without bytes elements of that type, no temporary; p is "     \
                           "&a[i], global_ptr<T>(g[i]) of pointers g, or another global_ptr">, \
      detail::anything = {}, detail::anything = {}, detail::anything = {});
SPLITC_OTHERWISE("bulk_read(local, p, bytes)", bulk_read)
SPLITC_OTHERWISE("bulk_get(local, p, bytes)", bulk_get)
SPLITC_OTHERWISE("bulk_write(p, local, bytes)", bulk_write)
SPLITC_OTHERWISE("bulk_put(p, local, bytes)", bulk_put)
SPLITC_OTHERWISE("bulk_store(p, local, bytes)", bulk_store)
#undef SPLITC_OTHERWISE

}  // namespace splitc
