#pragma once

#include <atomic>
#include <cstring>
#include <span>
#include <type_traits>

#include "am/types/source_location.h"
#include "splitc/access/access.h"
#include "splitc/access/store.h"
#include "splitc/world/sync.h"

// The same operations on ranges: destination first, length in bytes or as a span (Split-C's
// bulk_*).
//
//            completes            source may be reused
//   read     on return
//   write    on return            on return
//   get      at sync()
//   put      at sync()            at sync()
//   store    where it lands       on return
//
// Each range lies in the memory of one process. Local memory may be any memory; where it is the
// own segment, the two ranges may overlap, and the result is that of memmove.
//
// Throw Error if a span has more bytes than a 64-bit number holds.

namespace splitc {
namespace detail {

template <class T>
inline void check_bulk([[maybe_unused]] global_ptr<T> p, [[maybe_unused]] std::size_t bytes,
                       [[maybe_unused]] Call call) {
  static_assert(std::is_void_v<T> || std::is_trivially_copyable_v<T>,
                "global memory holds plain bytes");
  if constexpr (am::kChecked) check_range(p.proc(), p.offset(), bytes, call);
}
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

// Of a span, which was perhaps made with a wrong length.
template <class T>
inline std::size_t bytes_of(std::span<T> local, Call call) {
  return product(local.size(), "elements", sizeof(T), "bytes", call);
}

}  // namespace detail

template <class T>
inline void bulk_read(void* local, global_ptr<T> from, std::size_t bytes,
                      am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_bulk(from, bytes, {"bulk_read", where});
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_read(local, from.bits(), bytes, {"bulk_read", where});
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
  // pairs with: write() and bulk_write()
  std::atomic_thread_fence(std::memory_order_acquire);
}
template <detail::writable T>
inline void bulk_write(global_ptr<T> to, const void* local, std::size_t bytes,
                       am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_bulk(to, bytes, {"bulk_write", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_write(to.bits(), local, bytes, {"bulk_write", where});
  // pairs with: read() and bulk_read()
  std::atomic_thread_fence(std::memory_order_release);
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
}
template <class T>
inline handle bulk_get(void* local, global_ptr<T> from, std::size_t bytes,
                       am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_bulk(from, bytes, {"bulk_get", where});
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_get(local, from.bits(), bytes, {"bulk_get", where});
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
  return {};
}
template <detail::writable T>
inline handle bulk_put(global_ptr<T> to, const void* local, std::size_t bytes,
                       am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_bulk(to, bytes, {"bulk_put", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_put(to.bits(), local, bytes, {"bulk_put", where});
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  return {};
}
template <detail::writable T>
inline void bulk_store(global_ptr<T> to, const void* local, std::size_t bytes,
                       store_counter& counter = store_counter::default_counter(),
                       am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_bulk(to, bytes, {"bulk_store", where});
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return counter.store_far(to.bits(), local, bytes, {"bulk_store", where});
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  counter.count(base, to.bits(), bytes);
}

template <class T>
inline void bulk_read(std::span<T> local, global_ptr<std::type_identity_t<const T>> from,
                      am::SourceLocation where = am::SourceLocation::current()) {
  bulk_read(local.data(), from, detail::bytes_of(local, {"bulk_read", where}), where);
}
template <detail::writable T>
inline void bulk_write(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       am::SourceLocation where = am::SourceLocation::current()) {
  bulk_write(to, local.data(), detail::bytes_of(local, {"bulk_write", where}), where);
}
template <class T>
inline handle bulk_get(std::span<T> local, global_ptr<std::type_identity_t<const T>> from,
                       am::SourceLocation where = am::SourceLocation::current()) {
  return bulk_get(local.data(), from, detail::bytes_of(local, {"bulk_get", where}), where);
}
template <detail::writable T>
inline handle bulk_put(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       am::SourceLocation where = am::SourceLocation::current()) {
  return bulk_put(to, local.data(), detail::bytes_of(local, {"bulk_put", where}), where);
}
template <detail::writable T>
inline void bulk_store(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       store_counter& counter = store_counter::default_counter(),
                       am::SourceLocation where = am::SourceLocation::current()) {
  bulk_store(to, local.data(), detail::bytes_of(local, {"bulk_store", where}), counter, where);
}

}  // namespace splitc
