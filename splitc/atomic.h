#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "splitc/access.h"
#include "splitc/far_word.h"
#include "splitc/remote_call.h"
#include "splitc/sync.h"

// Reading and changing an object of any process in one indivisible step.

namespace splitc {

template <class T>
concept atomic_word =
    std::integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {
// Where the word is mapped; nullptr if it is on another node.
template <atomic_word T>
T* word_at(global_ptr<T> p, const char* call) {
  if constexpr (am::kChecked) check_object(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  if (p.offset() % sizeof(T) != 0) [[unlikely]] {
    refuse_misaligned(p.proc(), p.offset(), sizeof(T), sizeof(T), call);
  }
  std::byte* const base = base_of(p.bits());
  return base == far_base() ? nullptr : reinterpret_cast<T*>(mapped(base, p.bits()));
}
template <atomic_word T>
T change_far(WordOp op, global_ptr<T> p, T a, T b, const char* call) {
  return static_cast<T>(change_far_word(op, p.bits(), sizeof(T), static_cast<std::uint64_t>(a),
                                        static_cast<std::uint64_t>(b), call));
}
template <atomic_word T>
T exchange_at(global_ptr<T> p, T x, const char* call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]]
    return change_far(WordOp::kExchange, p, x, T(0), call);
  // pairs with: the atomics of other processes
  return __atomic_exchange_n(word, x, __ATOMIC_SEQ_CST);
}
}  // namespace detail

// --- By the processor, on integers of 4 or 8 bytes; by that of the owner if it is on another node.
// They wait for the old value and return it; all processes agree on their order, and each is a
// fence for what this process did before. Between them and get, put or store to the same word there
// is no order before a sync(). Throw Error if p is misaligned, and in a handler if it is on another
// node.

template <atomic_word T>
T fetch_and_add(global_ptr<T> p, std::type_identity_t<T> x) {
  T* const word = detail::word_at(p, "fetch_and_add");
  if (word == nullptr) [[unlikely]]
    return detail::change_far(detail::WordOp::kAdd, p, x, T(0), "fetch_and_add");
  // pairs with: the atomics of other processes
  return __atomic_fetch_add(word, x, __ATOMIC_SEQ_CST);
}
template <atomic_word T>
T exchange(global_ptr<T> p, std::type_identity_t<T> x) {
  return detail::exchange_at(p, x, "exchange");
}
// Writes `desired` if the old value is `expected`.
template <atomic_word T>
T cmp_and_swap(global_ptr<T> p, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  T* const word = detail::word_at(p, "cmp_and_swap");
  if (word == nullptr) [[unlikely]] {
    return detail::change_far(detail::WordOp::kCompareAndSwap, p, desired, expected,
                              "cmp_and_swap");
  }
  // pairs with: the atomics of other processes
  __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
// Writes 1: whoever gets 0 has the lock, and writes 0 to give it back.
template <atomic_word T>
T test_and_set(global_ptr<T> p) {
  return detail::exchange_at(p, T(1), "test_and_set");
}

// The same through references, as in fetch_and_add(a[i], 1).
template <atomic_word T>
T fetch_and_add(const global_ref<T>& r, std::type_identity_t<T> x) {
  return fetch_and_add(&r, x);
}
template <atomic_word T>
T exchange(const global_ref<T>& r, std::type_identity_t<T> x) {
  return exchange(&r, x);
}
template <atomic_word T>
T cmp_and_swap(const global_ref<T>& r, std::type_identity_t<T> expected,
               std::type_identity_t<T> desired) {
  return cmp_and_swap(&r, expected, desired);
}
template <atomic_word T>
T test_and_set(const global_ref<T>& r) {
  return test_and_set(&r);
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
// Error when called inside such a function, and when the processes run different programs.
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
