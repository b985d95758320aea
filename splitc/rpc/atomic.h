#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "splitc/access/global_ref.h"
#include "splitc/access/word_atomic.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/typed_call.h"
#include "splitc/world/segment.h"
#include "splitc/world/sync.h"

// Changing an object of any process in one indivisible step:
//
//   fetch_and_add(p, 1);  exchange  cmp_and_swap ...              words: word_atomic.h
//   atomic<&push>(queue, 7);  atomic_get  atomic_put              any object, by a function that
//                                                                 runs in its process
//
// The two ways do not exclude one another: an instruction may change a word while a function of
// atomic() uses it. Change an object in one of them only.

namespace splitc {

// --- By any function, run where the object is:
//
//   int push(Queue& queue, int item) { ... }
//   int length = atomic<&push>(p, 7);          waits for the result
//   atomic_get<&push>(length, p, 7);           ... which is there at sync()
//   atomic_put<&push>(p, 7);                   drops the result; has run at sync()
//
// kFunction(T&, args...) runs in the process of p, in a thread of it that polls or waits; so a call
// takes until then, also to a process of the same node, and to oneself. One runs at a time: no two
// calls on one process overlap, with several threads neither. It must be short. It may not wait,
// poll or start calls of its own; it may access memory of processes on its node.
//
// kFunction is linked into the program, or into a library that add_library() was given (rpc.h), and
// all processes run the same program (between nodes, one with the same contents). Its arguments are
// trivially copyable and together at most 48 bytes, its result at most 56: checked when compiling.
//
// Memory. kFunction sees everything that its caller had written or seen before the call; what it
// writes is visible to the caller once that has returned.
//
// Cost, near and far: a short request and its reply, cheapest up to 8 bytes there and 8 back; of
// more than 40 bytes of arguments a medium request. Starting one waits for a credit, polling,
// while 64 (of another node: 1024) are in flight to the same process.
//
// Threads: a thread of the program, outside handlers. Throw Error elsewhere, if the processes run
// different programs, and if p is null or names no process.
//
// What kFunction throws comes out of the call in which that process polled, as an Error that names
// the caller, and so ends the job. Do not catch it there and go on: the caller, which gets no
// answer, would wait for ever.

namespace detail {

// An argument or a result. Any bytes, as the function need not follow an address.
template <class T>
struct Plain {
  T value;
};

// Held while a function of atomic() runs in a program of several threads, any of which may run one.
inline std::mutex atomic_mutex;

template <auto kFunction, class Function = decltype(kFunction)>
struct AtomicFunction;
template <auto kFunction, class R, class O, class... P>
struct AtomicFunction<kFunction, R (*)(O&, P...) noexcept>
    : AtomicFunction<static_cast<R (*)(O&, P...)>(kFunction)> {};
template <auto kFunction, class R, class O, class... P>
struct AtomicFunction<kFunction, R (*)(O&, P...)> {
  using Result = R;
  static constexpr std::size_t kResultBytes =
      sizeof(std::conditional_t<std::is_void_v<R>, char, R>);
  static_assert(std::is_void_v<R> || std::is_trivially_copyable_v<R>,
                "results are copied as bytes");
  static_assert(kResultBytes <= kMaxShortResult, "the result is too large");
  static_assert((std::is_trivially_copyable_v<std::remove_cvref_t<P>> && ...),
                "arguments are copied as bytes");
  static_assert((std::size_t{0} + ... + sizeof(std::remove_cvref_t<P>)) <= 48,
                "too many bytes of arguments");

  // What is called there.
  struct Run {
    auto operator()(O& object, const Plain<std::remove_cvref_t<P>>&... args) const {
      const auto one_at_a_time = lock_among_threads(atomic_mutex);
      try {
        if constexpr (std::is_void_v<R>) {
          kFunction(object, args.value...);
        } else {
          return Plain<R>{kFunction(object, args.value...)};
        }
      } catch (const std::exception& thrown) {
        throw ThrownAt(thrown, offset_of(&object, my_proc(), "atomic"));
      }
    }
  };
  // Sends to any process, this one included. The result goes to `result`, unless that is nullptr:
  // all of a word, or, if it is `kSized`, kResultBytes.
  template <bool kSized, class... Given>
  static handle start(global_ptr<O> p, void* result, Call name, const Given&... given) {
    static_assert(sizeof...(Given) == sizeof...(P), "the function takes other arguments");
    RpcCalls& calls = rpc_calls(name);
    check_target(p, name);
    handle operation;
    Rpc<AtObject<O, Run>, Plain<std::remove_cvref_t<P>>...>::template start_to<kSized>(
        p.proc(), calls, result, operation, name, {{}, p.offset()},
        Plain<std::remove_cvref_t<P>>{static_cast<const std::remove_cvref_t<P>&>(given)}...);
    return operation;
  }
};

}  // namespace detail

// Runs kFunction and waits for its result, which it returns. Like sync(), ends the job if a handler
// throws meanwhile.
template <auto kFunction, class T, class... Args>
auto atomic(global_ptr<T> p, const Args&... args) {
  using Function = detail::AtomicFunction<kFunction>;
  using Result = typename Function::Result;
  if constexpr (std::is_void_v<Result>) {
    sync(Function::template start<false>(p, nullptr, "atomic", args...), am::SourceLocation());
  } else {
    alignas(Result) std::array<std::byte, std::max<std::size_t>(sizeof(Result), 8)> result;
    sync(Function::template start<false>(p, result.data(), "atomic", args...),
         am::SourceLocation());
    return detail::of_bytes<Result>(result.data());
  }
}

// Starts it. The result is in `local`, which must live until then, when the handle's operation is
// complete (splitc/world/sync.h).
template <auto kFunction, class T, class... Args>
handle atomic_get(typename detail::AtomicFunction<kFunction>::Result& local, global_ptr<T> p,
                  const Args&... args) {
  constexpr bool kSized = sizeof local != sizeof(std::uint64_t);
  return detail::AtomicFunction<kFunction>::template start<kSized>(p, &local, "atomic_get",
                                                                   args...);
}
// Starts it, and drops the result. Complete means that kFunction has returned.
template <auto kFunction, class T, class... Args>
handle atomic_put(global_ptr<T> p, const Args&... args) {
  return detail::AtomicFunction<kFunction>::template start<false>(p, nullptr, "atomic_put",
                                                                  args...);
}

// Atomic changes without a result: of a word near, the processor's instruction; of one far, a
// message without an answer. quiesce() completes those of all processes.
//
//   for (const unsigned char byte : text) atomic_add(bins[byte], 1);
//   quiesce();                                                         // all are counted
//
// They change words of 1, 2, 4 or 8 bytes (add, min and max also floating-point ones), and may be
// mixed with fetch_and_add() and the other operations of splitc/access/word_atomic.h. They are not
// ordered with one another. After quiesce() they are visible to every process that sees what this
// process does then.
//
// Cost: as fetch_and_add() near, and rpc_ff() far: 6 million a second over TCP, where an aggregator
// (splitc/rpc/aggregator.h) makes more than 100. A thread of the program; near ones in handlers,
// too. Errors as fetch_and_add() and rpc_ff() have them.

namespace detail {

template <AtomicOp kOp, atomic_number T>
void change_one_way(global_ptr<T> p, T x, Call call) {
  T* const word = word_at(p, call);
  if (word == nullptr) [[unlikely]] {
    check_far(p.bits(), sizeof(T), call);
    start_one_way<true>(p.proc(), call,
                        AtObject<T, void (*)(T&, T)>{
                            [](T& there, T y) { change_word(kOp, &there, y, T()); }, p.offset()},
                        x);
    return;
  }
  change_near<kOp>(word, x, T());
  wake_owner(mapped(p.bits() & ~kOffsetMask));
}

}  // namespace detail

// Each for a pointer and for a reference, as in atomic_add(a[i], 1).
#define SPLITC_ONE_WAY(name, words, op)                                               \
  template <words T>                                                                  \
  void name(global_ptr<T> p, std::type_identity_t<T> x, am::Here where = {}) {        \
    detail::change_one_way<detail::AtomicOp::op>(p, x, {#name, where});               \
  }                                                                                   \
  template <words T>                                                                  \
  void name(const global_ref<T>& r, std::type_identity_t<T> x, am::Here where = {}) { \
    name(&r, x, where);                                                               \
  }
SPLITC_ONE_WAY(atomic_add, atomic_number, kAdd)
SPLITC_ONE_WAY(atomic_min, atomic_number, kMin)
SPLITC_ONE_WAY(atomic_max, atomic_number, kMax)
SPLITC_ONE_WAY(atomic_and, atomic_word, kAnd)
SPLITC_ONE_WAY(atomic_or, atomic_word, kOr)
SPLITC_ONE_WAY(atomic_xor, atomic_word, kXor)
#undef SPLITC_ONE_WAY

}  // namespace splitc
