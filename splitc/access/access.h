// access/ is everything that reads or changes memory through a global pointer: read and write, *p
// in expressions, get and put, store, ranges, atomics. It may use world/, pointer/ and call/, and
// collective/ where stores are waited for together. A near access is the processor's own, inlined,
// behind one look at the table of bases; a far one is a call.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/types/source_location.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/remote.h"

// Reading and writing one object through a global pointer.
//
// Objects of 1, 2, 4 or 8 bytes move in one piece: a reader sees the old value or the new, never a
// mixture. Larger ones move like memcpy. On a node every access is a load or a store of the
// processor, to another node it is a transfer that is waited for; docs/memory-rules.md says what
// others see when.

namespace splitc {
namespace detail {

template <std::size_t kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};

template <class T>
inline constexpr bool moves_whole = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                                    sizeof(T) == 8;

template <class T>
inline constexpr auto signed_size = static_cast<std::ptrdiff_t>(sizeof(T));

// What an object must be aligned to, to move in one piece.
template <class T>
inline constexpr std::size_t needed_alignment = moves_whole<T> ? sizeof(T) : alignof(T);

// Of element i from p, in checked builds.
template <class T>
inline void check_access([[maybe_unused]] global_ptr<T> p, [[maybe_unused]] std::ptrdiff_t i,
                         [[maybe_unused]] Call call) {
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds plain bytes");
  if constexpr (am::kChecked) {
    const global_ptr<T> at = p + i;
    check_object(at.proc(), at.offset(), sizeof(T), needed_alignment<T>, call);
  }
}

// For accesses that keep the order of the program: `order` is acquire, release, or relaxed where
// another access orders this one. (Split-phase ones are plain: between two syncs the compiler may
// join and reorder them.) Larger objects may be seen half written, and are ordered all the same.
template <class T>
inline T load(const std::byte* from, int order) {
  if constexpr (moves_whole<T>) {
    using Word = typename UnsignedOf<sizeof(T)>::type;
    return std::bit_cast<T>(__atomic_load_n(reinterpret_cast<const Word*>(from), order));
  } else {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    __atomic_thread_fence(order);
    return std::bit_cast<T>(bytes);
  }
}

template <class T>
inline void save(std::byte* to, const T& value, int order) {
  if constexpr (moves_whole<T>) {
    using Word = typename UnsignedOf<sizeof(T)>::type;
    __atomic_store_n(reinterpret_cast<Word*>(to), std::bit_cast<Word>(value), order);
  } else {
    __atomic_thread_fence(order);
    std::memmove(to, &value, sizeof(T));  // `value` may be the object itself, or overlap it
  }
}

template <class T>
inline T far_value(std::uint64_t bits, Call call) {
  alignas(needed_alignment<T>) std::array<std::byte, sizeof(T)> bytes;
  far_read(bytes.data(), bits, sizeof(T), call);
  return std::bit_cast<T>(bytes);
}

// Element i from p. The process is looked up by p, so that a loop over i looks once.
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

// Reads and waits for the value. Own reads and writes happen in program order.
template <class T>
inline std::remove_cv_t<T> read(global_ptr<T> p,
                                am::SourceLocation where = am::SourceLocation::current()) {
  return detail::read_at(p, 0, {"read", where});
}

// Writes; what this process does afterwards happens after the write for every process that sees it.
template <detail::writable T>
inline void write(global_ptr<T> p, const std::type_identity_t<T>& value,
                  am::SourceLocation where = am::SourceLocation::current()) {
  detail::write_at(p, 0, value, {"write", where});
}

}  // namespace splitc

#include "splitc/access/global_ref.h"
