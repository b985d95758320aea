// pointer/ is global and spread pointers, and the calls that give memory for them to point to. It
// may use world/, and collective/ to agree on memory. A pointer is 8 plain bytes with the same
// meaning in every process; it computes and compares here, and reads and writes through access/.
//
// Computing with pointers costs a few instructions, communicates nothing, never waits, and may be
// done by any thread and in handlers.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "splitc/world/place.h"
#include "splitc/world/steps.h"

namespace splitc {

template <class T>
class global_ref;  // what *p and p[i] give: splitc/access/global_ref.h
template <class T>
class spread_ptr;
namespace detail {
template <class P>
concept ordinary_pointer = std::is_pointer_v<P>;
// A pointer of the same kind to another type, to which that to `To` does not convert. (If `To` is
// const there is one that does, and functions may be overloaded for both.)
template <class P, template <class> class Pointer, class To>
concept other_pointer = !std::is_const_v<To> && requires {
  typename P::element_type;
}
&&std::same_as<P, Pointer<typename P::element_type>> && !std::same_as<P, Pointer<To>>;
}  // namespace detail

// A pointer into the memory of any process: Split-C's `T *global`.
//
//   global_ptr<double> p = a.pointer(7);       where element 7 of a spread array is
//   p + 1, p - q, p < q, p++                   on the same process, as a T* would
//   double x = *p;   p[3] = x;                 blocking reads and writes
//   get(x, p);   put(p, x);   store(p, x);     started here, completed elsewhere
//
// It is plain bytes that mean the same in every process, so structures that span processes can be
// made of it:
//
//   struct Node { int value; global_ptr<Node> next; };
//   for (global_ptr<Node> at = head; at; at = *at.member(&Node::next)) sum += Node(*at).value;
//
// and a process shows memory of its own to the others by giving them a pointer to it:
//
//   int* const box = local_malloc<int>(16);                           // not collective
//   const auto boxes = all_gather(toglobal(box));                     // now all know all boxes
//   boxes[(my_proc() + 1) % procs()][0] = 7;                          // into the neighbour's
//
// Where it comes from, and what it gives:
//
//   of an array                    a.pointer(i), &a[i], a.on(p)
//   of memory of this process      toglobal(local), at once usable by others
//   of spread memory               sp.on(p), global_ptr<T>(sp)
//   of another pointer             p + n, p.member(&T::field), global_ptr<U>(p)
//   of numbers                     global_ptr<T>(proc, offset), global_ptr<T>::from_bits(bits)
//
//   the object                     *p, p[i], and every operation that takes a pointer
//   the memory, on this node       tolocal(p)
//   where that is                  toproc(p), p.proc(), p.offset(), p.bits()
//
// Beside a T*:
//
//                         T*                       global_ptr<T>
//   conversion            to const T* implicit     the same; every other one explicit
//   comparison, order     within an array          of all pointers: by process, then by offset
//   difference            within an array          within one process
//   p->field              yes                      *p.member(&T::field), or T(*p).field
//   null                  followed: a crash        followed: Error, in every build
//
// Representation. 8 bytes: 24 bits of process, counted from 1, above 40 bits of offset in bytes
// from the start of that process's segment. Trivially copyable, so it can be stored in global
// memory, sent in messages and compared, and means the same in every process of the job. All bits
// zero is the null pointer, which points to no process.
//
// What it may point to. Segment memory only: what all_spread_malloc, local_malloc and spread arrays
// give. It owns nothing, and dangles when that memory is freed; accesses through a dangling pointer
// are found by checked builds only. T is trivially copyable; a pointer to const T cannot be written
// through.
//
// Arithmetic stays on the same process. Where a pointer would leave the 2^40 bytes of a process,
// checked builds throw Error, and release builds give some other pointer.
template <class T>
class global_ptr : public detail::Steps<global_ptr<T>> {
 public:
  // The names that std::pointer_traits and std::iterator_traits look for. (It is no iterator: *p
  // gives a reference class, not a T&.)
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  // The null pointer.
  constexpr global_ptr() noexcept = default;
  constexpr global_ptr(std::nullptr_t) noexcept {}
  // To `offset` bytes from the start of the segment of `proc`, which need not be a process of this
  // job before the pointer is followed. proc is at most 2^24 - 2 and offset less than 2^40: checked
  // builds throw Error otherwise.
  constexpr global_ptr(std::uint32_t proc, std::uint64_t offset)
      : bits_(detail::bits_of(proc, offset)) {
    detail::check_address(proc, offset);
  }

  // The pointer that has these bits(), which are not checked.
  static constexpr global_ptr from_bits(std::uint64_t bits) noexcept {
    global_ptr p;
    p.bits_ = bits;
    return p;
  }

  // Adding const is implicit, as for T*; every other change of type is explicit and keeps the bits;
  // the program answers for the type of the object there.
  template <class U>
  requires std::same_as<T, const U>
  constexpr global_ptr(const global_ptr<U>& other) noexcept : bits_(other.bits()) {}
  template <class U>
  explicit constexpr global_ptr(const global_ptr<U>& other) requires(!std::same_as<T, const U> &&
                                                                     !std::same_as<T, U>)
      : bits_(other.bits()) {}
  template <detail::other_pointer<splitc::global_ptr, T> P>
  global_ptr(const P&) = delete;  // another type, or const: write global_ptr<T>(p) if it is right
  // Keeps process and address; arithmetic from here on is local to that process.
  explicit constexpr global_ptr(const spread_ptr<T>& other) noexcept;
  template <std::same_as<spread_ptr<T>> P>
  global_ptr(const P&) = delete;  // write global_ptr<T>(s), or s.on(process)
  template <detail::ordinary_pointer P>
  global_ptr(P) = delete;  // write toglobal(local): the memory is that of a spread array or malloc

  // The process it points to, and where in its segment, in bytes. Of a null pointer, which points
  // to no process, ~0 and 0.
  constexpr std::uint32_t proc() const noexcept { return detail::proc_of(bits_); }
  constexpr std::uint64_t offset() const noexcept { return bits_ & detail::kOffsetMask; }
  // All of it as a number, as from_bits() takes it.
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  // Whether it is not null.
  constexpr explicit operator bool() const noexcept { return bits_ != 0; }

  template <std::same_as<T*> P>
  operator P() const = delete;  // write tolocal(p), on the node of its process
  // The object, or element i from it, to be read or written (splitc/access/global_ref.h). These two
  // access nothing yet. (p[i] in a loop over i looks up the process once.)
  friend global_ref<T> operator*(detail::Located<global_ptr> p) noexcept {
    return global_ref<T>(p.value, 0, p.where);
  }
  global_ref<T> operator[](detail::Index i) const noexcept {
    return global_ref<T>(*this, i.value, i.where);
  }

  // n elements further on the same process, n of either sign.
  constexpr global_ptr& operator+=(std::ptrdiff_t n) {
    detail::check_step(bits_, n, sizeof(T));
    bits_ += static_cast<std::uint64_t>(n) * sizeof(T);
    return *this;
  }
  // (The rest of pointer arithmetic, -=, ++, --, p + n, n + p and p - n, is made of it, and has its
  // check. Elements are counted in sizeof(T), as for a T*.)

  // Elements from b to a, which point to the same process; else the result means nothing.
  friend constexpr std::ptrdiff_t operator-(global_ptr a, global_ptr b) noexcept {
    return static_cast<std::ptrdiff_t>(a.bits_ - b.bits_) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  // By process first, then by offset; null is less than all others.
  friend constexpr bool operator==(global_ptr a, global_ptr b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr auto operator<=>(global_ptr a, global_ptr b) noexcept {
    return a.bits_ <=> b.bits_;
  }
  template <class U>
  friend bool operator==(global_ptr, U*) = delete;             // write p == toglobal(local)
  friend bool operator==(global_ptr, spread_ptr<T>) = delete;  // write p == global_ptr(s)
  // Prints process:offset, or null.
  template <class Stream>
  requires requires(Stream& out) { out << "null"; }
  friend Stream& operator<<(Stream& out, global_ptr p) {
    if (!p) return out << "null", out;
    return out << p.proc() << ':' << p.offset(), out;
  }

  void operator->() const = delete;  // write *p.member(&T::field), or T(*p).field to read it
  // A pointer to a member of the struct that this points to, on the same process:
  // p.member(&Node::value). Arithmetic only, known to the compiler where the member is. (C++ has no
  // way to overload `->` for a member of an object that is elsewhere.)
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

// The process that a pointer points to: Split-C's toproc. ~0 if it is null.
template <class T>
constexpr std::uint32_t toproc(global_ptr<T> p) noexcept {
  return p.proc();
}

// Returns an ordinary pointer to the same memory: Split-C's tolocal, which is not limited to this
// process's own memory here, but works for every process of this node. Valid until the memory is
// freed, at most until run() returns.
//
// Throws Error, in every build, if p is null, or its process does not exist or is on another node;
// in checked builds also if p does not point into a live block. Costs a load and an addition.
// Accesses through the result are ordinary C++ accesses: two processes that use one object at the
// same time need std::atomic_ref or a barrier, as two threads do.
template <class T>
T* tolocal(global_ptr<T> p, am::Here where = {}) {
  const detail::Call call("tolocal", where);
  if constexpr (am::kChecked) detail::check_pointer(p.proc(), p.offset(), sizeof(T), call);
  std::byte* const base = detail::mapping_of(p.bits());
  if (base == detail::far_base()) [[unlikely]]
    detail::refuse_far(p.proc(), call);
  return reinterpret_cast<T*>(detail::mapped(base, p.bits()));
}

// The global pointer to the memory of `proc` that has the same offset there as `local` has in this
// process's segment: Split-C's toglobal. For `local` in a spread block, that is the part of `proc`
// of the same block.
//
// Throws Error, in every build, if `local` is not in this process's segment, as only that has
// global addresses, or if there is no process `proc`. Arithmetic only.
template <class T>
global_ptr<T> toglobal(std::uint32_t proc, T* local, am::Here where = {}) {
  return {proc, detail::offset_of(local, proc, {"toglobal", where})};
}
// The global pointer to `local` itself, in this process's segment: to be given to other processes.
template <class T>
global_ptr<T> toglobal(T* local, am::Here where = {}) {
  return toglobal(my_proc(), local, where);
}

}  // namespace splitc
