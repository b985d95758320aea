#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "am/types/source_location.h"
#include "splitc/access/access.h"
#include "splitc/access/far_atomic.h"
#include "splitc/call/remote_call.h"
#include "splitc/world/sync.h"

// Reading and changing an object of any process in one indivisible step, in two ways:
//
//   fetch_and_add(p, 1);  exchange  cmp_and_swap  test_and_set    words, by an instruction
//   atomic<&push>(queue, 7);  atomic_get  atomic_put              any object, by a function that
//                                                                 runs in its process
//
// The names are those of Split-C's library. The two ways do not exclude one another: an instruction
// may change a word while a function of atomic() uses it. Change an object in one of them only.

namespace splitc {

// The integers that the first four take: of 4 or 8 bytes, not bool, not const.
template <class T>
concept atomic_word = std::integral<T> && detail::writable<T> && !std::same_as<T, bool> &&
                      (sizeof(T) == 4 || sizeof(T) == 8);

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
// word and look at the other's by cmp_and_swap, neither would see what the other has written.
inline void fence_before_comparison() noexcept { fence_behind_atomic(); }

// Where the word is mapped; nullptr if it is on another node.
template <atomic_word T>
T* word_at(global_ptr<T> p, Call call) {
  if constexpr (am::kChecked) check_object(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  if (p.offset() % sizeof(T) != 0) [[unlikely]] {
    refuse_misaligned(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  }
  std::byte* const base = base_of(p.bits());
  return base == far_base() ? nullptr : reinterpret_cast<T*>(mapped(base, p.bits()));
}
template <atomic_word T>
T change_far(AtomicOp op, global_ptr<T> p, T a, T b, Call call) {
  return static_cast<T>(change_far_atomically(
      op, p.bits(), sizeof(T), static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), call));
}
template <atomic_word T>
T exchange_at(global_ptr<T> p, T x, Call call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]]
    return change_far(AtomicOp::kExchange, p, x, T(0), call);
  // pairs with: the atomics of other processes
  const T before = __atomic_exchange_n(word, x, __ATOMIC_SEQ_CST);
  fence_behind_atomic();
  return before;
}
}  // namespace detail

// --- By an instruction of the processor, on integers of 4 or 8 bytes.
//
// Each returns the value before the change, and waits for it. All processes agree on one order of
// all atomics, and each is a full fence. Between them and a get, put or store to the same word
// there is no order before a sync().
//
//   route               cost                                            allowed
//   near (same node)    one locked instruction by the caller            any thread, handlers
//   far (other node)    a short request and its reply; the owner        the world's thread,
//                       performs the instruction when it polls, so      outside handlers
//                       near and far ones on one word agree
//
// Throw Error, in every build, if p is null or names no process, if it is not aligned to sizeof(T),
// and where a far one is not allowed. What a handler throws while a far one waits ends the job.

// Adds `x`, modulo 2^32 or 2^64.
template <atomic_word T>
T fetch_and_add(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  T* const word = detail::word_at(p, {"fetch_and_add", where});
  if (word == nullptr) [[unlikely]]
    return detail::change_far(detail::AtomicOp::kAdd, p, x, T(0), {"fetch_and_add", where});
  // pairs with: the atomics of other processes
  const T before = __atomic_fetch_add(word, x, __ATOMIC_SEQ_CST);
  detail::fence_behind_atomic();
  return before;
}
// Writes `x`.
template <atomic_word T>
T exchange(global_ptr<T> p, std::type_identity_t<T> x,
           am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exchange_at(p, x, {"exchange", where});
}
// Writes `desired` if the value before is `expected`; it did so if `expected` is returned.
template <atomic_word T>
T cmp_and_swap(global_ptr<T> p, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
               am::SourceLocation where = am::SourceLocation::current()) {
  T* const word = detail::word_at(p, {"cmp_and_swap", where});
  if (word == nullptr) [[unlikely]] {
    return detail::change_far(detail::AtomicOp::kCompareAndSwap, p, desired, expected,
                              {"cmp_and_swap", where});
  }
  detail::fence_before_comparison();
  // pairs with: the atomics of other processes
  __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  detail::fence_behind_atomic();
  return expected;
}
// Writes 1. As a lock: whoever gets 0 holds it, and releases it by writing 0.
template <atomic_word T>
T test_and_set(global_ptr<T> p, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exchange_at(p, T(1), {"test_and_set", where});
}

// The same through references, as in fetch_and_add(a[i], 1).
template <atomic_word T>
T fetch_and_add(const global_ref<T>& r, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  return fetch_and_add(&r, x, where);
}
template <atomic_word T>
T exchange(const global_ref<T>& r, std::type_identity_t<T> x,
           am::SourceLocation where = am::SourceLocation::current()) {
  return exchange(&r, x, where);
}
template <atomic_word T>
T cmp_and_swap(const global_ref<T>& r, std::type_identity_t<T> expected,
               std::type_identity_t<T> desired,
               am::SourceLocation where = am::SourceLocation::current()) {
  return cmp_and_swap(&r, expected, desired, where);
}
template <atomic_word T>
T test_and_set(const global_ref<T>& r, am::SourceLocation where = am::SourceLocation::current()) {
  return test_and_set(&r, where);
}

// --- By any function, run where the object is:
//
//   int push(Queue& queue, int item) { ... }
//   int length = atomic<&push>(p, 7);          waits for the result
//   atomic_get<&push>(length, p, 7);           ... which is there at sync()
//   atomic_put<&push>(p, 7);                   drops the result; has run at sync()
//
// kFunction(T&, args...) runs in the process of p, in the world's thread, when that polls or waits;
// so a call takes until then, also to a process of the same node, and to oneself. One runs at a
// time: no two calls on one process overlap. It must be short. It may not wait, poll or start calls
// of its own; it may access memory of processes on its node.
//
// kFunction is linked into the program, not into a shared library, and all processes run the same
// program (between nodes, one with the same contents). Its arguments are trivially copyable and
// together at most 48 bytes, its result at most 56: checked when compiling.
//
// Memory. kFunction sees everything that its caller had written or seen before the call; what it
// writes is visible to the caller once that has returned.
//
// Cost, near and far: a short request and its reply. Starting one waits for a credit, polling,
// while 64 are in flight to the same process.
//
// Threads: the world's thread, outside handlers. Throw Error elsewhere, if the processes run
// different programs, and if p is null or names no process.
//
// What kFunction throws comes out of the call in which that process polled, as an Error that names
// the caller, and so ends the job. Do not catch it there and go on: the caller, which gets no
// answer, would wait for ever.

// Runs kFunction and waits for its result, which it returns. Like sync(), ends the job if a handler
// throws meanwhile.
template <auto kFunction, class T, class... Args>
auto atomic(global_ptr<T> p, const Args&... args) {
  using Call = detail::RemoteFunction<kFunction>;
  using Result = typename Call::Result;
  if constexpr (std::is_void_v<Result>) {
    sync(Call::start(p, nullptr, "atomic", args...));
  } else {
    alignas(Result) std::array<std::byte, sizeof(Result)> result;
    sync(Call::start(p, result.data(), "atomic", args...));
    return std::bit_cast<Result>(result);
  }
}

// Starts it. The result is in `local`, which must live until then, when the handle's operation is
// complete (splitc/world/sync.h).
template <auto kFunction, class T, class... Args>
handle atomic_get(typename detail::RemoteFunction<kFunction>::Result& local, global_ptr<T> p,
                  const Args&... args) {
  return detail::RemoteFunction<kFunction>::start(p, &local, "atomic_get", args...);
}
// Starts it, and drops the result. Complete means that kFunction has returned.
template <auto kFunction, class T, class... Args>
handle atomic_put(global_ptr<T> p, const Args&... args) {
  return detail::RemoteFunction<kFunction>::start(p, nullptr, "atomic_put", args...);
}

}  // namespace splitc
