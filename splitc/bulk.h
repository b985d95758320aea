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
inline std::byte* range(global_ptr<T> p, std::size_t bytes, const char* call) {
  static_assert(std::is_void_v<T> || std::is_trivially_copyable_v<T>,
                "global memory holds plain bytes");
  if constexpr (am::kChecked) check_range(p.proc(), p.offset(), bytes, call);
  return mapped(p.bits());
}
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

}  // namespace detail

template <class T>
inline void bulk_read(void* local, global_ptr<T> from, std::size_t bytes) {
  detail::copy(local, detail::range(from, bytes, "bulk_read"), bytes);
}
template <class T>
inline void bulk_write(global_ptr<T> to, const void* local, std::size_t bytes) {
  detail::copy(detail::range(to, bytes, "bulk_write"), local, bytes);
}
template <class T>
inline handle bulk_get(void* local, global_ptr<T> from, std::size_t bytes) {
  detail::copy(local, detail::range(from, bytes, "bulk_get"), bytes);
  return {};
}
template <class T>
inline handle bulk_put(global_ptr<T> to, const void* local, std::size_t bytes) {
  detail::copy(detail::range(to, bytes, "bulk_put"), local, bytes);
  return {};
}
template <class T>
inline void bulk_store(global_ptr<T> to, const void* local, std::size_t bytes,
                       store_counter& counter = store_counter::default_counter()) {
  detail::copy(detail::range(to, bytes, "bulk_store"), local, bytes);
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
