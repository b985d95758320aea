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
#include "splitc/access/far_word.h"
#include "splitc/call/remote_call.h"
#include "splitc/world/sync.h"

// Reading and changing an object of any process in one indivisible step.

namespace splitc {

template <class T>
concept atomic_word = std::integral<T> && detail::writable<T> && !std::same_as<T, bool> &&
                      (sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
// Behind an atomic instruction: what this process does afterwards is not done before. The locked
// instructions of x86-64 see to that.
inline void fence_behind_atomic() noexcept {
#if !defined(__x86_64__)
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

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
T change_far(WordOp op, global_ptr<T> p, T a, T b, Call call) {
  return static_cast<T>(change_far_word(op, p.bits(), sizeof(T), static_cast<std::uint64_t>(a),
                                        static_cast<std::uint64_t>(b), call));
}
template <atomic_word T>
T exchange_at(global_ptr<T> p, T x, Call call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]]
    return change_far(WordOp::kExchange, p, x, T(0), call);
  // pairs with: the atomics of other processes
  const T before = __atomic_exchange_n(word, x, __ATOMIC_SEQ_CST);
  fence_behind_atomic();
  return before;
}
}  // namespace detail

// --- By the processor, on integers of 4 or 8 bytes; by that of the owner if it is on another node.
// They wait for the old value and return it; all processes agree on their order, and each is a full
// fence. Between them and get, put or store to the same word there is no order before a sync().
// Throw Error if p is misaligned, and in a handler if it is on another node.

template <atomic_word T>
T fetch_and_add(global_ptr<T> p, std::type_identity_t<T> x,
                am::SourceLocation where = am::SourceLocation::current()) {
  T* const word = detail::word_at(p, {"fetch_and_add", where});
  if (word == nullptr) [[unlikely]]
    return detail::change_far(detail::WordOp::kAdd, p, x, T(0), {"fetch_and_add", where});
  // pairs with: the atomics of other processes
  const T before = __atomic_fetch_add(word, x, __ATOMIC_SEQ_CST);
  detail::fence_behind_atomic();
  return before;
}
template <atomic_word T>
T exchange(global_ptr<T> p, std::type_identity_t<T> x,
           am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exchange_at(p, x, {"exchange", where});
}
// Writes `desired` if the old value is `expected`.
template <atomic_word T>
T cmp_and_swap(global_ptr<T> p, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
               am::SourceLocation where = am::SourceLocation::current()) {
  T* const word = detail::word_at(p, {"cmp_and_swap", where});
  if (word == nullptr) [[unlikely]] {
    return detail::change_far(detail::WordOp::kCompareAndSwap, p, desired, expected,
                              {"cmp_and_swap", where});
  }
  // pairs with: the atomics of other processes
  __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  detail::fence_behind_atomic();
  return expected;
}
// Writes 1: whoever gets 0 has the lock, and writes 0 to give it back.
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
//   atomic_get<&push>(length, p, 7);           ... until sync()
//   atomic_put<&push>(p, 7);                   drops it; done at sync()
//
// kFunction(T&, args...) runs in the process of p, while that polls or waits, one call at a time:
// no two atomic() calls on one process overlap. It must be short and may not wait, poll or make
// calls of its own; reads and writes through pointers to processes of its node are allowed.
// Arguments are trivially copyable and together at most 48 bytes, the result at most 56. Throws
// Error when called inside such a function, and when the processes run different programs. What
// kFunction throws comes out of that process's poll or wait as an Error, and ends the job unless it
// is caught there.
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

// `local` must live until the operation is complete.
template <auto kFunction, class T, class... Args>
handle atomic_get(typename detail::RemoteFunction<kFunction>::Result& local, global_ptr<T> p,
                  const Args&... args) {
  return detail::RemoteFunction<kFunction>::start(p, &local, "atomic_get", args...);
}
template <auto kFunction, class T, class... Args>
handle atomic_put(global_ptr<T> p, const Args&... args) {
  return detail::RemoteFunction<kFunction>::start(p, nullptr, "atomic_put", args...);
}

}  // namespace splitc
