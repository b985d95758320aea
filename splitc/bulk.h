#pragma once

#include <cstring>
#include <span>
#include <type_traits>

#include "splitc/access.h"
#include "splitc/store.h"
#include "splitc/sync.h"

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
// Each range lies in the memory of one process. Local memory may be any memory.

namespace splitc {
namespace detail {

template <class T>
inline void check_bulk([[maybe_unused]] global_ptr<T> p, [[maybe_unused]] std::size_t bytes,
                       [[maybe_unused]] const char* call) {
  static_assert(std::is_void_v<T> || std::is_trivially_copyable_v<T>,
                "global memory holds plain bytes");
  if constexpr (am::kChecked) check_range(p.proc(), p.offset(), bytes, call);
}
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

}  // namespace detail

template <class T>
inline void bulk_read(void* local, global_ptr<T> from, std::size_t bytes) {
  detail::check_bulk(from, bytes, "bulk_read");
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_read(local, from.bits(), bytes, "bulk_read");
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
}
template <class T>
inline void bulk_write(global_ptr<T> to, const void* local, std::size_t bytes) {
  detail::check_bulk(to, bytes, "bulk_write");
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_write(to.bits(), local, bytes, "bulk_write");
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
}
template <class T>
inline handle bulk_get(void* local, global_ptr<T> from, std::size_t bytes) {
  detail::check_bulk(from, bytes, "bulk_get");
  std::byte* const base = detail::base_of(from.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_get(local, from.bits(), bytes, "bulk_get");
  detail::copy(local, detail::mapped(base, from.bits()), bytes);
  return {};
}
template <class T>
inline handle bulk_put(global_ptr<T> to, const void* local, std::size_t bytes) {
  detail::check_bulk(to, bytes, "bulk_put");
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return detail::far_put(to.bits(), local, bytes, "bulk_put");
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  return {};
}
template <class T>
inline void bulk_store(global_ptr<T> to, const void* local, std::size_t bytes,
                       store_counter& counter = store_counter::default_counter()) {
  detail::check_bulk(to, bytes, "bulk_store");
  std::byte* const base = detail::base_of(to.bits());
  if (base == detail::far_base()) [[unlikely]]
    return counter.store_far(to.bits(), local, bytes, "bulk_store");
  detail::copy(detail::mapped(base, to.bits()), local, bytes);
  counter.count(to.proc(), bytes);
}

template <class T>
inline void bulk_read(std::span<T> local, global_ptr<std::type_identity_t<const T>> from) {
  bulk_read(local.data(), from, local.size_bytes());
}
template <class T>
inline void bulk_write(global_ptr<T> to, std::span<std::type_identity_t<const T>> local) {
  bulk_write(to, local.data(), local.size_bytes());
}
template <class T>
inline handle bulk_get(std::span<T> local, global_ptr<std::type_identity_t<const T>> from) {
  return bulk_get(local.data(), from, local.size_bytes());
}
template <class T>
inline handle bulk_put(global_ptr<T> to, std::span<std::type_identity_t<const T>> local) {
  return bulk_put(to, local.data(), local.size_bytes());
}
template <class T>
inline void bulk_store(global_ptr<T> to, std::span<std::type_identity_t<const T>> local,
                       store_counter& counter = store_counter::default_counter()) {
  bulk_store(to, local.data(), local.size_bytes(), counter);
}

}  // namespace splitc
