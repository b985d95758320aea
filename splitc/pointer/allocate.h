#pragma once

#include <cstddef>
#include <type_traits>

#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/pointer/spread_ptr.h"

// Memory that every process can address, out of the segment of each process, whose size
// the environment variable SPLITC_SEGMENT sets (256 MiB by default; `splitcrun --help-env`).
//
//                         collective    on each process             contents at first
//   all_spread_malloc     yes           the same offset             zero
//   local_malloc          no            on this one only            undefined
//
// Every block begins on a multiple of 64 bytes and occupies a multiple of 64, at least 64; so no
// two blocks share a cache line. Memory lives until it is freed, at most until run() returns.
//
// Thread rule: a thread of the program. The local calls are allowed in handlers, the collective
// ones, which wait, are not.
//
// Errors. Throw Error if the memory is not there; the sentence says how much there is, how much is
// used, and the largest free block. Nothing is allocated then.

namespace splitc {
namespace detail {
inline constexpr std::size_t kBlockAlign = 64;  // where blocks begin: objects may need no more
std::uint64_t spread_bytes(std::size_t count, std::size_t bytes, Call call);
std::uint64_t local_bytes(std::size_t count, std::size_t bytes, Call call);
// Collective: the offset of a spread block of `bytes`, zeroed. Throws Error in every process if one
// lacks the memory, or if they do not all ask for the same; `kind` is what else must agree.
std::uint64_t all_allocate(std::uint64_t bytes, Call call, std::uint64_t kind);
// Collective. Frees after a barrier, so that no process uses the block any more.
void all_free(std::uint32_t proc, std::uint64_t offset, Call call);
// For destructors, a collective call. Does nothing while an exception propagates, since the other
// processes may never reach this call; ends the job where `call` throws.
void at_end(am::FunctionRef<void()> call) noexcept;
void all_free_at_end(std::uint64_t offset, Call call) noexcept;
void* allocate(std::uint64_t bytes, Call call);
}  // namespace detail

// Collective: allocates `count` elements of T spread over all processes: Split-C's
// all_spread_malloc. Element i, p[i], is on process i mod procs(); each process gives room for
// ceil(count / procs()) of them. They are zero at first.
//
// Returns, in every process, the same pointer, to element 0 on process 0. Give it back by
// all_spread_free. Throws Error in every process if one lacks the memory, or if they do not all ask
// for the same count. Costs a barrier, one load or far read of each process's answer, and the
// zeroing of memory that was used before.
template <class T>
spread_ptr<T> all_spread_malloc(std::size_t count, am::Here where = {}) {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  static_assert(alignof(T) <= detail::kBlockAlign, "segments align blocks to 64 bytes");
  const std::uint64_t bytes = detail::spread_bytes(count, sizeof(T), {"all_spread_malloc", where});
  return {0, detail::all_allocate(bytes, {"all_spread_malloc", where}, count)};
}

// Allocates `count` elements of `bytes` bytes each, as Split-C spells it; cast the result:
// spread_ptr<T>(all_spread_malloc(n, sizeof(T))).
inline spread_ptr<void> all_spread_malloc(std::size_t count, std::size_t bytes,
                                          am::Here where = {}) {
  const std::uint64_t part = detail::spread_bytes(count, bytes, {"all_spread_malloc", where});
  return {0, detail::all_allocate(part, {"all_spread_malloc", where}, count)};
}

// Collective: gives back what all_spread_malloc returned, the pointer to element 0. Begins with a
// barrier, so accesses that other processes have completed before their call may use the memory;
// complete gets and puts to it by sync() first, and stores by all_store_sync().
//
// A null pointer, in every process, is left alone. Throws Error if p is not the start of a live
// spread block.
template <class T>
void all_spread_free(spread_ptr<T> p, am::Here where = {}) {
  if (p) detail::all_free(p.proc(), p.offset(), {"all_spread_free", where});
}
template <class T>
void all_spread_free(T*) = delete;  // local_free(p), of what local_malloc() gave

// Allocates `count` elements of T in this process's segment. Not collective. Returns an ordinary
// pointer; toglobal() makes one of it that others may use. The contents are undefined at first.
// Give it back by local_free. Throws Error if this process lacks the memory. Costs a search among
// the free blocks; nothing is communicated.
template <class T>
T* local_malloc(std::size_t count, am::Here where = {}) {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  static_assert(alignof(T) <= detail::kBlockAlign, "segments align blocks to 64 bytes");
  const detail::Call call("local_malloc", where);
  return static_cast<T*>(detail::allocate(detail::local_bytes(count, sizeof(T), call), call));
}

// Gives back what local_malloc returned in this process. Not collective: the program sees to it
// that no other process uses the memory any more. A null pointer is left alone. Throws Error, in
// every build, if p is not the start of a live local block.
void local_free(void* p, am::Here where = {});
template <class T>
void local_free(spread_ptr<T>) = delete;  // all_spread_free(p), of what all_spread_malloc() gave
template <class T>
void local_free(global_ptr<T>) = delete;  // local_free(tolocal(p)), of memory of this process

}  // namespace splitc
