#pragma once

#include <atomic>
#include <concepts>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/access/access.h"
#include "splitc/access/word_op.h"
#include "splitc/world/refused.h"
#include "splitc/world/sync.h"

// Reading and changing a word of any process in one indivisible step.
//
//   call                         the word becomes           of
//   fetch_and_add(p, x)          before + x                 integers (modulo 2^bits), float, double
//   fetch_and_min, fetch_and_max the lesser, greater one    the same
//   fetch_and_and, _or, _xor     bit by bit                 integers
//   exchange(p, x)               x                          integers, float, double
//   cmp_and_swap(p, e, x)        x if it is e               integers
//   test_and_set(p)              1                          integers
//
// Each returns the value before the change, and waits for it. Each but test_and_set has a
// split-phase form, whose name begins with start_: start_fetch_and_add(before, p, x) has put that
// value in `before` when the handle it returns is complete (splitc/world/sync.h), and
// start_fetch_and_add(p, x) drops it.
//
// Integers have 1, 2, 4 or 8 bytes and are not bool. The names are those of Split-C's library.
//
// All processes agree on one order of all atomics, and each that returns a value is a full fence.
// Between them and a get, put or store to the same word there is no order before a sync(). Those
// that were started take place in any order until they are complete.
//
//   route               cost                                            allowed
//   near (same node)    one locked instruction by the caller, or a      any thread, handlers
//                       loop of two (min, max, floating types);
//                       complete at once
//   far (other node)    a short request and its reply; the owner        program's threads,
//                       performs the instruction when it polls, so      outside handlers
//                       near and far ones on one word agree. Many that
//                       are started share packets: 64 cost as much as 2 or 3
//
// `before` lives until its handle is complete. Throw Error, in every build, if p is null or names
// no process, if it is not aligned to sizeof(T), and where a far one is not allowed. What a handler
// throws while a blocking far one waits ends the job.

namespace splitc {

template <class T>
concept atomic_word = std::integral<T> && detail::writable<T> && !std::same_as<T, bool> &&
                      (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
concept atomic_number = atomic_word<T> || std::same_as<T, float> || std::same_as<T, double>;

namespace detail {
// Behind an atomic instruction: what this process does afterwards is not performed before it. The
// locked instructions of x86-64 are full fences already.
inline void fence_behind_atomic() noexcept {
#if !defined(__x86_64__)
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
// Before an atomic instruction that may leave the word as it is. One that stores is a release, so
// what this process did before is visible first. One that does not is a mere load, which AArch64
// may perform while an earlier store is not visible yet: then of two processes that each write a
// word and read the other's by cmp_and_swap, neither would see what the other has written.
inline void fence_before_comparison() noexcept { fence_behind_atomic(); }

// Where the word is mapped; nullptr if it is on another node.
template <atomic_number T>
T* word_at(global_ptr<T> p, Call call) {
  if constexpr (am::kChecked) check_object(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  if (p.offset() % sizeof(T) != 0) [[unlikely]] {
    refuse_misaligned(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  }
  std::byte* const base = base_of(p.bits());
  return base == far_base() ? nullptr : reinterpret_cast<T*>(mapped(base, p.bits()));
}

// What it does to a word that is mapped.
template <AtomicOp kOp, class T>
inline T change_near(T* word, T a, T b) noexcept {
  if constexpr (kOp == AtomicOp::kCompareAndSwap) fence_before_comparison();
  const T before = change_word(kOp, word, a, b);
  fence_behind_atomic();
  return before;
}
template <AtomicOp kOp, atomic_number T>
inline T change_at(global_ptr<T> p, T a, T b, Call call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]] {
    return word_of_bits<T>(change_far_atomically(
        {kOp, word_type_of<T>, 0, p.bits(), word_bits(a), word_bits(b)}, call));
  }
  return change_near<kOp>(word, a, b);
}
// `before` may be nullptr.
template <AtomicOp kOp, atomic_number T>
inline handle start_change_at(T* before, global_ptr<T> p, T a, Call call, T b = T()) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]] {
    return start_far_atomic({kOp, word_type_of<T>, 0, p.bits(), word_bits(a), word_bits(b)}, before,
                            call);
  }
  const T value = change_near<kOp>(word, a, b);
  if (before != nullptr) *before = value;
  return {};
}
}  // namespace detail

// The four functions of a change: one that waits and returns the value before, for a pointer and
// for a reference, as in fetch_and_add(a[i], 1); and a split-phase one with `before`, or without.
#define SPLITC_ATOMIC(name, words, op)                                                            \
  template <words T>                                                                              \
  T name(global_ptr<T> p, std::type_identity_t<T> x, am::Here where = {}) {                       \
    return detail::change_at<detail::AtomicOp::op>(p, x, T(), {#name, where});                    \
  }                                                                                               \
  template <words T>                                                                              \
  T name(const global_ref<T>& r, std::type_identity_t<T> x, am::Here where = {}) {                \
    return name(&r, x, where);                                                                    \
  }                                                                                               \
  template <words T>                                                                              \
  handle start_##name(T& before, global_ptr<T> p, std::type_identity_t<T> x,                      \
                      am::Here where = {}) {                                                      \
    return detail::start_change_at<detail::AtomicOp::op>(&before, p, x, {"start_" #name, where}); \
  }                                                                                               \
  template <words T>                                                                              \
  handle start_##name(global_ptr<T> p, std::type_identity_t<T> x, am::Here where = {}) {          \
    return detail::start_change_at<detail::AtomicOp::op, T>(nullptr, p, x,                        \
                                                            {"start_" #name, where});             \
  }
SPLITC_ATOMIC(fetch_and_add, atomic_number, kAdd)
SPLITC_ATOMIC(fetch_and_min, atomic_number, kMin)
SPLITC_ATOMIC(fetch_and_max, atomic_number, kMax)
SPLITC_ATOMIC(fetch_and_and, atomic_word, kAnd)
SPLITC_ATOMIC(fetch_and_or, atomic_word, kOr)
SPLITC_ATOMIC(fetch_and_xor, atomic_word, kXor)
SPLITC_ATOMIC(exchange, atomic_number, kExchange)
#undef SPLITC_ATOMIC

// Writes `desired` if the value before is `expected`; it did so if `expected` is returned.
template <atomic_word T>
T cmp_and_swap(global_ptr<T> p, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
               am::Here where = {}) {
  return detail::change_at<detail::AtomicOp::kCompareAndSwap>(p, desired, expected,
                                                              {"cmp_and_swap", where});
}
template <atomic_word T>
T cmp_and_swap(const global_ref<T>& r, std::type_identity_t<T> expected,
               std::type_identity_t<T> desired, am::Here where = {}) {
  return cmp_and_swap(&r, expected, desired, where);
}
// `before` is not optional: it alone says whether the swap has taken place.
template <atomic_word T>
handle start_cmp_and_swap(T& before, global_ptr<T> p, std::type_identity_t<T> expected,
                          std::type_identity_t<T> desired, am::Here where = {}) {
  return detail::start_change_at<detail::AtomicOp::kCompareAndSwap>(
      &before, p, desired, {"start_cmp_and_swap", where}, expected);
}
// Sets the word to 1 and returns its old value. As a lock: a process that gets 0 holds it, and
// releases it by writing 0.
template <atomic_word T>
T test_and_set(global_ptr<T> p, am::Here where = {}) {
  return detail::change_at<detail::AtomicOp::kExchange>(p, T(1), T(), {"test_and_set", where});
}
template <atomic_word T>
T test_and_set(const global_ref<T>& r, am::Here where = {}) {
  return test_and_set(&r, where);
}
#define SPLITC_OTHERWISE(call, name, type)                                            \
  void name(detail::refused<call ": p is &a[i], a[i] or another global_ptr, to " type \
                                 " that is not const">,                               \
            detail::anything = {}, detail::anything = {});
SPLITC_OTHERWISE("fetch_and_add(p, x)", fetch_and_add, "a number")
SPLITC_OTHERWISE("fetch_and_min(p, x)", fetch_and_min, "a number")
SPLITC_OTHERWISE("fetch_and_max(p, x)", fetch_and_max, "a number")
SPLITC_OTHERWISE("fetch_and_and(p, x)", fetch_and_and, "an integer")
SPLITC_OTHERWISE("fetch_and_or(p, x)", fetch_and_or, "an integer")
SPLITC_OTHERWISE("fetch_and_xor(p, x)", fetch_and_xor, "an integer")
SPLITC_OTHERWISE("exchange(p, x)", exchange, "a number")
SPLITC_OTHERWISE("cmp_and_swap(p, expected, desired)", cmp_and_swap, "an integer")
SPLITC_OTHERWISE("test_and_set(p)", test_and_set, "an integer")
#undef SPLITC_OTHERWISE

}  // namespace splitc
