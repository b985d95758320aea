// pointer/ is global and spread pointers, and the calls that give memory for them to point to. It
// may use world/, and collective/ to agree on memory. A pointer is 8 plain bytes with the same
// meaning in every process; it computes and compares here, and reads and writes through access/.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "splitc/world/place.h"

namespace splitc {

template <class T>
class global_ref;  // what *p and p[i] give: splitc/access/global_ref.h
template <class T>
class spread_ptr;

// A pointer into the memory of any process: Split-C's `T *global`. 8 bytes: 24 bits of process, 40
// bits of offset in that process's segment. Trivially copyable, so it can be stored in global
// memory, sent in messages and compared. The zero value points nowhere.
//
// Arithmetic stays on the same process; checked builds throw Error where a pointer would leave the
// 2^40 bytes of it. `*p` and `p[i]` read and write and wait for it; get, put
// and store start an operation that sync() or store_sync() completes.
//
// Only segment memory has global addresses: what all_spread_malloc, local_malloc and spread arrays
// give. T is trivially copyable.
template <class T>
class global_ptr {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  constexpr global_ptr() noexcept = default;
  constexpr global_ptr(std::nullptr_t) noexcept {}
  // `offset` in bytes from the start of the segment of `proc`.
  constexpr global_ptr(std::uint32_t proc, std::uint64_t offset)
      : bits_(detail::bits_of(proc, offset)) {
    detail::check_address(proc, offset);
  }

  // The pointer that has these bits().
  static constexpr global_ptr from_bits(std::uint64_t bits) noexcept {
    global_ptr p;
    p.bits_ = bits;
    return p;
  }

  // Adding const is implicit, as for T*; every other change of type is spelled out.
  template <class U>
  requires std::same_as<T, const U>
  constexpr global_ptr(const global_ptr<U>& other) noexcept : bits_(other.bits()) {}
  template <class U>
  explicit constexpr global_ptr(const global_ptr<U>& other) requires(!std::same_as<T, const U> &&
                                                                     !std::same_as<T, U>)
      : bits_(other.bits()) {}
  // Keeps process and address; arithmetic from here on is local to that process.
  explicit constexpr global_ptr(const spread_ptr<T>& other) noexcept;

  // Of a null pointer, which points to no process, ~0.
  constexpr std::uint32_t proc() const noexcept { return detail::proc_of(bits_); }
  constexpr std::uint64_t offset() const noexcept { return bits_ & detail::kOffsetMask; }
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  constexpr explicit operator bool() const noexcept { return bits_ != 0; }

  global_ref<T> operator*() const noexcept { return global_ref<T>(*this); }
  global_ref<T> operator[](std::ptrdiff_t i) const noexcept { return global_ref<T>(*this, i); }

  constexpr global_ptr& operator+=(std::ptrdiff_t n) {
    detail::check_step(bits_, n, sizeof(T));
    bits_ += static_cast<std::uint64_t>(n) * sizeof(T);
    return *this;
  }
  constexpr global_ptr& operator-=(std::ptrdiff_t n) { return *this += -n; }
  constexpr global_ptr& operator++() { return *this += 1; }
  constexpr global_ptr& operator--() { return *this -= 1; }
  constexpr global_ptr operator++(int) {
    const global_ptr before = *this;
    *this += 1;
    return before;
  }
  constexpr global_ptr operator--(int) {
    const global_ptr before = *this;
    *this -= 1;
    return before;
  }
  friend constexpr global_ptr operator+(global_ptr p, std::ptrdiff_t n) { return p += n; }
  friend constexpr global_ptr operator+(std::ptrdiff_t n, global_ptr p) { return p += n; }
  friend constexpr global_ptr operator-(global_ptr p, std::ptrdiff_t n) { return p -= n; }
  // Elements between two pointers to the same process.
  friend constexpr std::ptrdiff_t operator-(global_ptr a, global_ptr b) noexcept {
    return static_cast<std::ptrdiff_t>(a.bits_ - b.bits_) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  // By process first.
  friend constexpr auto operator<=>(global_ptr a, global_ptr b) noexcept = default;

  // A member of the struct this points to: p.member(&Node::value).
  template <class M, class C>
  requires std::same_as<std::remove_cv_t<C>, value_type> global_ptr<M> member(M C::*field)
  const {
    alignas(value_type) static constexpr std::byte storage[sizeof(value_type)]{};
    const auto* object = reinterpret_cast<const value_type*>(storage);
    const auto* at = reinterpret_cast<const std::byte*>(&(object->*field));
    return global_ptr<M>::from_bits(bits_ + static_cast<std::uint64_t>(at - storage));
  }

 private:
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(global_ptr<double>) == 8 && std::is_trivially_copyable_v<global_ptr<double>>);

// The process a pointer points to.
template <class T>
constexpr std::uint32_t toproc(global_ptr<T> p) noexcept {
  return p.proc();
}

// The same memory as an ordinary pointer, valid while the job runs: of any process of this node.
// Throws Error if its process is on another node.
template <class T>
T* tolocal(global_ptr<T> p) {
  if constexpr (am::kChecked) detail::check_pointer(p.proc(), p.offset(), sizeof(T), "tolocal");
  std::byte* const base = detail::base_of(p.bits());
  if (base == detail::far_base()) [[unlikely]]
    detail::refuse_far(p.proc(), "tolocal");
  return reinterpret_cast<T*>(detail::mapped(base, p.bits()));
}

// The global pointer of `local` memory in process `proc`'s segment: local is an address in this
// process's segment, and the result has the same offset in that of `proc`.
// Throws Error if local is not in the segment: only its memory has global addresses.
template <class T>
global_ptr<T> toglobal(std::uint32_t proc, T* local) {
  return {proc, detail::offset_of(local, proc, "toglobal")};
}
template <class T>
global_ptr<T> toglobal(T* local) {
  return toglobal(my_proc(), local);
}

}  // namespace splitc
