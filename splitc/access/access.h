// access/ is everything that reads or changes memory through a global pointer: read and write, *p
// in expressions, get and put, store, ranges, atomics. It may use world/ and pointer/, and
// collective/ where stores are waited for together. A near access is inlined: one load from the
// table of segment bases, one comparison, and the processor's own load or store. A far access is a
// function call.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/refused.h"
#include "splitc/world/remote.h"

// Blocking reads and writes of one object through a global pointer: Split-C's x = *p and *p = x.
//
//   x = *p;   *p = x;   x = p[i];   p[i] = x;      through the reference that * and [] give
//   x = read(p);   write(p, x);                    the same, as functions
//
// Atomicity. Objects of 1, 2, 4 or 8 bytes, aligned to their size, move whole: a reader sees the
// old value or the new one, never a mixture. Larger objects are copied as by memcpy, and a
// concurrent reader may see them half written.
//
// Order. The blocking accesses of one process take effect in program order, except that a later
// read of another object may be performed before an earlier write is visible to others (store
// buffering; a sync() between the two prevents it). A write is a release and a read an acquire: a
// process that reads the written value also sees everything that the writer had written or seen
// before. docs/memory-rules.md has the full rules.
//
// What each costs, and where it may be called:
//
//   route               cost                                            allowed
//   near (same node)    one load or store: 0.4 ns measured, a raw       any thread, handlers
//                       pointer 0.4
//   far (other node)    one RMA operation, or one request and its       program's threads, outside
//                       reply; waits for it and polls meanwhile:        handlers
//                       7.8 us over TCP on one machine
//
// Errors. In every build: the pointer is null, or names a process below 511 that the job does not
// have; a far access is outside the segment, in a handler, or in another thread. In checked builds
// also: the pointer names any other process; the range is not inside one live block of that
// process; the object is misaligned. In release builds these three are undefined.
//
// A far access polls while it waits for its completion. An exception that a handler throws then
// ends the job.

namespace splitc {
namespace detail {

// The unsigned integer of 1, 2, 4 or 8 bytes, which objects of that size are loaded and stored as.
template <std::size_t kBytes>
using UnsignedOf =
    std::conditional_t<kBytes <= 2, std::conditional_t<kBytes == 1, std::uint8_t, std::uint16_t>,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>;

// Whether an aligned T is loaded and stored by one instruction.
template <class T>
inline constexpr bool moves_whole = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                                    sizeof(T) == 8;

// For arithmetic with indices of either sign.
template <class T>
inline constexpr auto signed_size = static_cast<std::ptrdiff_t>(sizeof(T));

// The alignment in bytes that an object needs, to move in one piece.
template <class T>
inline constexpr std::size_t needed_alignment = moves_whole<T> ? sizeof(T) : alignof(T);

// Checked builds: throws Error unless element i from p is aligned and lies in a live block.
template <class T>
inline void check_access([[maybe_unused]] global_ptr<T> p, [[maybe_unused]] std::ptrdiff_t i,
                         [[maybe_unused]] Call call) {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  if constexpr (am::kChecked) {
    const global_ptr<T> at = p + i;
    check_object(at.proc(), at.offset(), sizeof(T), needed_alignment<T>, call);
  }
}

// The load of an access that keeps program order: `order` is acquire, or relaxed where another
// access orders this one. (Split-phase accesses are plain instead: between two syncs the compiler
// may join and reorder them.) Larger objects may be seen half written, and are ordered all the
// same.
template <class T>
inline T load(const std::byte* from, int order) {
  if constexpr (moves_whole<T>) {
    using Word = UnsignedOf<sizeof(T)>;
    return std::bit_cast<T>(__atomic_load_n(reinterpret_cast<const Word*>(from), order));
  } else {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    __atomic_thread_fence(order);
    return std::bit_cast<T>(bytes);
  }
}

// The store of such an access: `order` is release or relaxed.
template <class T>
inline void save(std::byte* to, const T& value, int order) {
  if constexpr (moves_whole<T>) {
    using Word = UnsignedOf<sizeof(T)>;
    __atomic_store_n(reinterpret_cast<Word*>(to), std::bit_cast<Word>(value), order);
  } else {
    __atomic_thread_fence(order);
    std::memmove(to, &value, sizeof(T));  // `value` may be the object itself, or overlap it
  }
}

// Reads the object at global pointer `bits` of another node. Waits.
template <class T>
inline T far_value(std::uint64_t bits, Call call) {
  alignas(needed_alignment<T>) std::array<std::byte, sizeof(T)> bytes;
  far_read(bytes.data(), bits, sizeof(T), call);
  return std::bit_cast<T>(bytes);
}

// Reads element i from p. The process is looked up by p alone, so a loop over i does so once.
template <class T>
inline std::remove_cv_t<T> read_at(global_ptr<T> p, std::ptrdiff_t i, Call call) {
  using Value = std::remove_cv_t<T>;
  check_access(p, i, call);
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const Value value = far_value<Value>((p + i).bits(), call);
    base_stays(base, p.bits());
    return value;
  }
  const std::byte* const from = mapped(base, p.bits()) + i * signed_size<T>;
  // pairs with: write_at()
  const Value value = load<Value>(from, __ATOMIC_ACQUIRE);
  base_stays(base, p.bits());
  return value;
}

// Writes element i from p.
template <class T>
inline void write_at(global_ptr<T> p, std::ptrdiff_t i, const T& value, Call call) {
  check_access(p, i, call);
  std::byte* const base = base_of(p.bits());
  if (base == far_base()) [[unlikely]] {
    const T copy = value;  // that alone is in memory, and `value` can stay in a register
    far_write((p + i).bits(), &copy, sizeof(T), call);
    base_stays(base, p.bits());
    return;
  }
  // pairs with: read_at()
  save<T>(mapped(base, p.bits()) + i * signed_size<T>, value, __ATOMIC_RELEASE);
  base_stays(base, p.bits());
}

}  // namespace detail

// Returns the object at `p`. Waits if it is on another node. An acquire: whatever the process that
// wrote the value had written or seen before is visible now.
template <class T>
inline std::remove_cv_t<T> read(global_ptr<T> p, am::Here where = {}) {
  return detail::read_at(p, 0, {"read", where});
}

// Writes `value` to the object at `p`, whose type is not const. A release: everything that this
// process has written or seen before is visible to a process that reads `value`. On return a far
// write has been performed at its target, and every process sees it.
template <detail::writable T>
inline void write(global_ptr<T> p, const std::type_identity_t<T>& value, am::Here where = {}) {
  detail::write_at(p, 0, value, {"write", where});
}

void read(detail::refused<"read(p): p is &a[i] or another global_ptr">);
void write(detail::refused<"write(p, value): p is &a[i] or another global_ptr, not to const">,
           detail::anything = {});

}  // namespace splitc

#include "splitc/access/global_ref.h"
