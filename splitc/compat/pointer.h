// compat/ is Split-C as its programs were written: the pointers, arrays and operators of the C
// language it extended, for sources that splitc2cc has translated (docs/porting.md). It may use all
// other rooms, and none of them uses it.
//
// Why types of its own, beside global_ptr and spread_ptr: C converts where C++ should not. Here a
// pointer to void becomes any other and back, a local pointer becomes a global one, `(T *)p` and
// tolocal(p) take the local part of an address without asking whose it is, `p->field` reads through
// the network, and a pointer without an initializer is not initialized. In new programs each of
// these hides a mistake, so that they are in this room alone.
//
// global<T> is `T *global`, spread<T> is `T *spread`, lvalue<P> is what `*p` and `p[i]` are.
// Threads, errors, costs and the rules of memory are those of the operations of splitc/access.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "splitc/access/access.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/pointer/spread_ptr.h"

namespace splitc::compat {

template <class T>
class global;
template <class T>
class spread;
template <class P>
class lvalue;

// What has an address that other processes can use, as a global_ptr: pointers and blocks.
template <class X>
concept addressed = requires(const X& x) {
  x.address().bits();
};

namespace detail {

// The memory of this process at the offset of `bits`, regardless of the process that `bits` name:
// the local part of an address. nullptr of the null pointer.
inline void* local_part(std::uint64_t bits) noexcept {
  if (bits == 0) return nullptr;
  return splitc::detail::mapped(my_proc(), bits & splitc::detail::kOffsetMask);
}

// C's implicit conversions: from and to void, and adding const.
template <class From, class To>
inline constexpr bool converts = std::is_void_v<From> || std::is_void_v<To> ||
                                 std::same_as<From, To> || std::same_as<const From, To>;

// What `p->` gives: the whole object, read when the arrow is evaluated, and const, so that an
// assignment to a field of this copy does not compile. (-fpermissive lets g++ call what changes an
// object for a const one, too: so the pointers delete the const form of it.)
template <class T>
class snapshot {
 public:
  explicit snapshot(global_ptr<T> p) : object_(read(p)) {}
  const T* operator->() const noexcept { return &object_; }

 private:
  std::remove_cv_t<T> object_;
};

// The part that both kinds of pointers have. Self is the pointer type.
template <class Self, class T>
class pointer_base : public splitc::detail::Steps<Self> {
  using Steps = splitc::detail::Steps<Self>;

 public:
  using element_type = T;

  std::uint64_t bits() const noexcept { return bits_; }
  global_ptr<T> address() const noexcept { return global_ptr<T>::from_bits(bits_); }

  explicit operator bool() const noexcept { return bits_ != 0; }
  // (U *)p: the local part of the address, regardless of its process, as in (T *)(A + MYPROC).
  template <class U>
  explicit operator U*() const noexcept {
    return static_cast<U*>(local_part(bits_));
  }

  lvalue<Self> operator[](std::ptrdiff_t n) const { return lvalue<Self>(self() + n); }
  friend auto operator*(Self p) { return lvalue<Self>(p); }

  friend std::ptrdiff_t operator-(Self a, Self b) { return a.native() - b.native(); }
  friend bool operator==(Self a, Self b) noexcept { return a.bits() == b.bits(); }
  friend std::strong_ordering operator<=>(Self a, Self b) noexcept {
    return a.native() <=> b.native();
  }
  snapshot<T> operator->() const { return snapshot<T>(address()); }
  Self& operator+=(std::ptrdiff_t n) {
    bits_ = (self().native() + n).bits();
    return static_cast<Self&>(*this);
  }
  void operator+=(std::ptrdiff_t) const = delete;  // see snapshot
  void operator-=(std::ptrdiff_t) const = delete;
  void operator++() const = delete;
  void operator--() const = delete;
  void operator++(int) const = delete;
  void operator--(int) const = delete;
  using Steps::operator-=;
  using Steps::operator++;
  using Steps::operator--;

 protected:
  pointer_base() = default;
  explicit pointer_base(std::uint64_t bits) noexcept : bits_(bits) {}

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }

  friend Self;
  std::uint64_t bits_;  // of a global_ptr; not initialized, as in C
};

}  // namespace detail

// `T *global`: a process and an address there; arithmetic stays on the process.
template <class T>
class global : public detail::pointer_base<global<T>, T> {
  using Base = detail::pointer_base<global<T>, T>;

 public:
  global() = default;
  global(const global&) = default;
  global& operator=(const global&) = default;
  void operator=(const global&) const = delete;  // see snapshot
  // The null pointer, or memory of this process. Throws Error if `local` is not in its segment,
  // where malloc(), spread arrays and variables outside functions of translated programs are.
  global(T* local) : Base(local == nullptr ? 0 : toglobal(local).bits()) {}
  template <std::same_as<void> V>
  requires(!std::is_void_v<T>) global(V* local) : global(static_cast<T*>(local)) {}
  template <class U>
  explicit(!detail::converts<U, T>) global(const global<U>& p) noexcept : Base(p.bits()) {}
  // Points to the same process and address; arithmetic goes on in that process.
  template <class U>
  explicit(!detail::converts<U, T>) global(const spread<U>& p) noexcept : Base(p.bits()) {}
  template <class U>
  explicit global(global_ptr<U> p) noexcept : Base(p.bits()) {}
  template <class P>
  explicit global(const lvalue<P>& p) : global(global(p.value())) {}
  template <addressed X>
  explicit global(const X& x) : Base(x.address().bits()) {}

  global_ptr<T> native() const noexcept { return this->address(); }
};

// `T *spread`: the same, but p + 1 is on the next process.
template <class T>
class spread : public detail::pointer_base<spread<T>, T> {
  using Base = detail::pointer_base<spread<T>, T>;

 public:
  spread() = default;
  spread(const spread&) = default;
  spread& operator=(const spread&) = default;
  void operator=(const spread&) const = delete;  // see snapshot
  spread(std::nullptr_t) noexcept : Base(0) {}
  template <class U>
  explicit(!detail::converts<U, T>) spread(const spread<U>& p) noexcept : Base(p.bits()) {}
  template <class U>
  explicit(!std::is_void_v<U>) spread(const global<U>& p) noexcept : Base(p.bits()) {}
  template <class U>
  explicit spread(spread_ptr<U> p) noexcept : Base(p.bits()) {}
  template <class U>
  explicit spread(global_ptr<U> p) noexcept : Base(p.bits()) {}
  template <class P>
  explicit spread(const lvalue<P>& p) : spread(spread(p.value())) {}
  template <addressed X>
  explicit spread(const X& x) : Base(x.address().bits()) {}

  spread_ptr<T> native() const noexcept { return spread_ptr<T>(this->address()); }
};

// The processor of an address, -1 of the null pointer.
template <addressed X>
int toproc(const X& x) noexcept {
  return static_cast<int>(x.address().proc());
}
// The local part of an address, regardless of its process: memory of this process, as (T *)p.
template <class T>
T* tolocal(const global<T>& p) noexcept {
  return static_cast<T*>(p);
}
template <class T>
T* tolocal(const spread<T>& p) noexcept {
  return static_cast<T*>(p);
}
// The address of `proc` whose local part `local` is, here. Throws Error unless `local` is in the
// segment of this process.
template <class T>
global<T> toglobal(int proc, T* local) {
  return global<T>(splitc::toglobal(static_cast<std::uint32_t>(proc), local));
}

}  // namespace splitc::compat
