#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "splitc/pointer/global_ptr.h"
#include "splitc/world/steps.h"

namespace splitc {

// A pointer into memory that is spread over all processes: Split-C's `T *spread`. The same 8 bytes
// as a global_ptr, but p + 1 is on the next process; after the last one it wraps to the next
// element of the first. So p[i] of an array from all_spread_malloc is element i, on process i mod
// procs().
//
//   spread_ptr<int> p = all_spread_malloc<int>(n);    to element 0, on process 0
//   p[i] = 1;                                         element i, on process i mod procs()
//   int* mine = p.mine();                             this process's elements, one behind the other
//   p.on(2)[k] = 1;                                   the k-th of those of process 2
//
// Where its elements are, for 3 processes, as (process, position there):
//
//   p       (0, 0)      p + 1   (1, 0)      p + 2   (2, 0)
//   p + 3   (0, 1)      p + 4   (1, 1)      p - 1   (2, -1)
//
// It converts to a global_ptr and back explicitly, which changes how arithmetic goes on and nothing
// else: ((T *global)p) + k of Split-C is global_ptr<T>(p) + k.
//
// It owns nothing: give the memory back by all_spread_free. Any thread and handlers may compute
// with it, inside run(), as arithmetic needs procs(). Arithmetic costs a division, as the process
// has to be found; to go over many elements of one process use on() or mine().
template <class T>
class spread_ptr : public detail::Steps<spread_ptr<T>> {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  // The null pointer.
  constexpr spread_ptr() noexcept = default;
  constexpr spread_ptr(std::nullptr_t) noexcept {}
  // To `offset` bytes from the start of the segment of `proc`; the ranges are global_ptr's.
  constexpr spread_ptr(std::uint32_t proc, std::uint64_t offset) : at_(proc, offset) {}
  // Points to the same process and address; arithmetic from here on goes from process to process.
  explicit constexpr spread_ptr(global_ptr<T> at) noexcept : at_(at) {}
  template <std::same_as<global_ptr<T>> P>
  spread_ptr(const P&) = delete;  // write spread_ptr<T>(p), which goes from process to process
  template <detail::other_pointer<splitc::spread_ptr, T> P>
  spread_ptr(const P&) = delete;  // of another type: all_spread_malloc<T>(n), or spread_ptr<T>(p)
  // Adding const is implicit; every other change of type, such as from void, is spelled out.
  template <class U>
  requires std::same_as<T, const U>
  constexpr spread_ptr(const spread_ptr<U>& other) noexcept
      : at_(global_ptr<T>::from_bits(other.bits())) {}
  template <class U>
  requires(!std::same_as<U, T> && !std::same_as<T, const U>) explicit constexpr spread_ptr(
      const spread_ptr<U>& other) noexcept
      : at_(global_ptr<T>::from_bits(other.bits())) {}

  // The parts, as those of a global_ptr: ~0 and 0 of a null pointer.
  constexpr std::uint32_t proc() const noexcept { return at_.proc(); }
  constexpr std::uint64_t offset() const noexcept { return at_.offset(); }
  constexpr std::uint64_t bits() const noexcept { return at_.bits(); }
  constexpr explicit operator bool() const noexcept { return static_cast<bool>(at_); }

  // Points to the same offset on process `proc`: its part of the memory, for arithmetic that stays
  // there (Split-C's (T *global)(p + proc)).
  constexpr global_ptr<T> on(std::uint32_t proc) const { return {proc, offset()}; }
  // This process's part as ordinary memory (Split-C's (T *)(p + MYPROC)), valid until it is freed.
  // Checked builds throw Error unless it points into a live block.
  T* mine(am::Here where = {}) const { return tolocal(on(my_proc()), where); }

  template <std::same_as<T*> P>
  operator P() const = delete;       // write s.mine(), or tolocal(s) on the node of its process
  void operator->() const = delete;  // write *global_ptr<T>(s).member(&T::field)
  // The object, or the i-th element from it, to be read or written. These two access nothing yet.
  friend global_ref<T> operator*(detail::Located<spread_ptr> p) {
    return global_ref<T>(p.value.at_, 0, p.where);
  }
  global_ref<T> operator[](detail::Index i) const {
    return global_ref<T>((*this + i.value).at_, 0, i.where);
  }

  // n elements further, n of either sign. A null pointer stays null. Where it would leave the 2^40
  // bytes of a process, checked builds throw Error, and release builds give some other pointer.
  spread_ptr& operator+=(std::ptrdiff_t n) {
    if (!at_) [[unlikely]]
      return *this;  // null, with any index
    const auto count = static_cast<std::ptrdiff_t>(procs());
    std::ptrdiff_t sum = 0;  // wraps where release builds give some other pointer
    const bool wraps = __builtin_add_overflow(static_cast<std::ptrdiff_t>(proc()), n, &sum);
    if constexpr (am::kChecked) {
      if (wraps) detail::refuse_step(bits(), n, sizeof(T));
    }
    std::ptrdiff_t rows = sum / count;
    std::ptrdiff_t proc = sum % count;
    if (proc < 0) {  // division of negative numbers rounds towards zero
      proc += count;
      --rows;
    }
    at_ = on(static_cast<std::uint32_t>(proc)) + rows;
    return *this;
  }
  // (The rest of pointer arithmetic, -=, ++, --, p + n, n + p and p - n, is made of it.)

  // Elements from b to a, which point into the same spread memory.
  friend std::ptrdiff_t operator-(spread_ptr a, spread_ptr b) noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(a.offset() - b.offset());
    return bytes / static_cast<std::ptrdiff_t>(sizeof(T)) * static_cast<std::ptrdiff_t>(procs()) +
           static_cast<std::ptrdiff_t>(a.proc()) - static_cast<std::ptrdiff_t>(b.proc());
  }
  // In the order of the elements of one spread memory: by offset, then by process. A null pointer
  // is less than all others.
  friend constexpr bool operator==(spread_ptr a, spread_ptr b) noexcept { return a.at_ == b.at_; }
  friend constexpr std::strong_ordering operator<=>(spread_ptr a, spread_ptr b) noexcept {
    const auto by_offset = a.offset() <=> b.offset();
    return by_offset != 0 ? by_offset : a.proc() <=> b.proc();
  }
  template <class Stream>
  requires requires(Stream& out) { out << "null"; }
  friend Stream& operator<<(Stream& out, spread_ptr p) { return out << p.at_, out; }

 private:
  global_ptr<T> at_;
};
static_assert(sizeof(spread_ptr<double>) == 8 && std::is_trivially_copyable_v<spread_ptr<double>>);

// Spread memory of elements of some size, as the untyped all_spread_malloc gives. It has no
// arithmetic: cast it, spread_ptr<T>(p).
template <>
class spread_ptr<void> {
 public:
  using element_type = void;

  constexpr spread_ptr() noexcept = default;
  constexpr spread_ptr(std::nullptr_t) noexcept {}
  constexpr spread_ptr(std::uint32_t proc, std::uint64_t offset) : at_(proc, offset) {}
  template <class U>
  explicit constexpr spread_ptr(const spread_ptr<U>& other) noexcept
      : at_(global_ptr<void>::from_bits(other.bits())) {}

  constexpr std::uint32_t proc() const noexcept { return at_.proc(); }
  constexpr std::uint64_t offset() const noexcept { return at_.offset(); }
  constexpr std::uint64_t bits() const noexcept { return at_.bits(); }
  constexpr explicit operator bool() const noexcept { return static_cast<bool>(at_); }
  // Whether both point to the same place, or are null, as in p == nullptr.
  friend constexpr bool operator==(spread_ptr a, spread_ptr b) noexcept {
    return a.bits() == b.bits();
  }

 private:
  global_ptr<void> at_;
};

// Keeps process and address; declared in global_ptr.h.
template <class T>
constexpr global_ptr<T>::global_ptr(const spread_ptr<T>& other) noexcept : bits_(other.bits()) {}

// The process, and the address here, as of a global_ptr.
template <class T>
constexpr std::uint32_t toproc(spread_ptr<T> p) noexcept {
  return p.proc();
}
template <class T>
T* tolocal(spread_ptr<T> p, am::Here where = {}) {
  return tolocal(global_ptr<T>(p), where);
}

}  // namespace splitc
