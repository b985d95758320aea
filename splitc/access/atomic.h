#pragma once

#include <array>
#include <bit>
#include <type_traits>

#include "splitc/access/word_atomic.h"
#include "splitc/call/remote_call.h"
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
// while 64 (of another node: 1024) are in flight to the same process.
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
    sync(Call::start(p, nullptr, "atomic", args...), {});
  } else {
    alignas(Result) std::array<std::byte, sizeof(Result)> result;
    sync(Call::start(p, result.data(), "atomic", args...), {});
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
