#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

#include "am/types/source_location.h"
#include "splitc/pointer/spread_ptr.h"

// Memory that every process can address. Everything is 64-byte aligned.

namespace splitc {
namespace detail {
std::uint64_t spread_bytes(std::size_t count, std::size_t bytes, Call call);
std::uint64_t local_bytes(std::size_t count, std::size_t bytes, Call call);
// Collective: the offset of a spread block of `bytes`, zeroed. Throws Error in every process if one
// lacks the memory, or if they do not all ask for the same; `kind` is what else must agree.
std::uint64_t all_allocate(std::uint64_t bytes, Call call, std::uint64_t kind);
// Collective: after a barrier, so that nobody uses the block any more.
void all_free(std::uint32_t proc, std::uint64_t offset, Call call);
// For destructors, a collective call. Does nothing while an exception is on its way, when nobody
// can tell who else will come here; ends the job where `call` throws.
void at_end(const std::function<void()>& call) noexcept;
void all_free_at_end(std::uint64_t offset, Call call) noexcept;
void* allocate(std::uint64_t bytes, Call call);
}  // namespace detail

// `count` elements of T spread over all processes: element i, p[i], is on process i mod procs().
// Zero at first. Collective, with the same count everywhere. Throws Error if one process lacks the
// memory.
template <class T>
spread_ptr<T> all_spread_malloc(std::size_t count,
                                am::SourceLocation where = am::SourceLocation::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds plain bytes");
  const std::uint64_t bytes = detail::spread_bytes(count, sizeof(T), {"all_spread_malloc", where});
  return {0, detail::all_allocate(bytes, {"all_spread_malloc", where}, count)};
}

// The same for `count` elements of `bytes` bytes, as Split-C has it; cast the result:
// spread_ptr<T>(all_spread_malloc(n, sizeof(T))).
inline spread_ptr<void> all_spread_malloc(
    std::size_t count, std::size_t bytes,
    am::SourceLocation where = am::SourceLocation::current()) {
  const std::uint64_t part = detail::spread_bytes(count, bytes, {"all_spread_malloc", where});
  return {0, detail::all_allocate(part, {"all_spread_malloc", where}, count)};
}

// Gives back what all_spread_malloc gave. Collective: begins with a barrier, so what processes did
// before it may still use the memory. A null pointer is left alone.
template <class T>
void all_spread_free(spread_ptr<T> p, am::SourceLocation where = am::SourceLocation::current()) {
  if (p) detail::all_free(p.proc(), p.offset(), {"all_spread_free", where});
}

// `count` elements of T in this process's segment, for this process to use as ordinary memory;
// toglobal() makes a pointer that all may use. Not collective; any contents at first.
// Throws Error if this process lacks the memory.
template <class T>
T* local_malloc(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds plain bytes");
  return static_cast<T*>(
      detail::allocate(detail::local_bytes(count, sizeof(T), "local_malloc"), "local_malloc"));
}

// Gives back what this process got from local_malloc. A null pointer is left alone.
void local_free(void* p);

}  // namespace splitc
