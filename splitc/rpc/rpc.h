// rpc/ calls any function in another process, lambdas included, with arguments of any length. It
// may use world/, pointer/, access/ and collective/. Functions travel as their place in the program
// and their captures as bytes, so all processes must run the same program.
//
//   future<R> rpc(proc, f, args...)       returns at once; the result comes later
//   future<R> rpc_at(p, f, args...)       f(*p, args...) in the process of p
//   rpc_into(to, proc, f, args...)        the elements that f returns, straight to `to`
//   void rpc_ff(proc, f, args...)         no answer: "fire and forget"
//   void rpc_ff_at(p, f, args...)
//   quiesce()                             collective: all of these have been called
//   quiet()                               those of this thread have been
//   add_library(&f)                       collective: functions of that library may be called, too
//   atomic<&f>(p, args...)                f(*p, args...), one at a time (splitc/rpc/atomic.h)
//   dist_object<T>                        one T of each process (splitc/rpc/dist_object.h)
//   aggregator, node_aggregator, lookups  many small ones in blocks (splitc/rpc/aggregator.h ..)
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/future.h"
#include "splitc/rpc/program.h"
#include "splitc/rpc/typed_call.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"
#include "splitc/world/refused.h"

namespace splitc {

// The process that a call is for, with the place of the call, which reports name. A number converts
// to it, or what converts to one, such as an element of a spread array: write rpc(3, ..), or
// rpc(owner[i], ..). A number that no process can have, such as -1 or 2^32, is refused by the call.
struct rpc_target {
  template <std::convertible_to<std::uint32_t> P>
  requires(!std::is_same_v<P, rpc_target>) rpc_target(const P& to, am::Here here = {})
      : proc(number(to)), where(here) {}
  operator std::uint32_t() const noexcept { return proc; }

  template <class P>
  static std::uint32_t number(const P& to) noexcept {
    if constexpr (std::is_integral_v<P>) {
      constexpr std::uint64_t kMost = detail::kNoProc;
      const auto proc = static_cast<std::uint64_t>(to);
      return static_cast<std::uint32_t>(proc < kMost ? proc : kMost);
    } else {
      return static_cast<std::uint32_t>(to);
    }
  }
  std::uint32_t proc;
  am::SourceLocation where;
};

// Calls f(args...) in process `proc`, and returns a future of what it returns.
//
//   future<int> n = rpc(3, [](int x) { return x + my_proc(); }, 7);
//   ... n.result();
//
// f is a function, or a lambda whose captures are trivially copyable values. It arrives as a copy;
// a captured reference is refused when compiling, and a captured pointer means nothing there: the
// checked build says so on standard error of one to this process's stack. It is linked into the
// program, which is the same in all processes, or into a library that add_library() was given.
//
//   argument                     f takes
//   T, trivially copyable        T, const T&
//   std::span<T>                 std::span<const T>, of memory that lasts until f returns
//   std::string_view             the same
//   dist_object<T>               T&: the one of the process where f runs
//   global_ptr<T>                global_ptr<T>
//   &function                    the address of that function there; not one that is captured
//
// Nothing that travels is aligned to more than 16 bytes: an alignas(64) is for memory.
//
// Its result is nothing, a trivially copyable value, a std::vector or std::string of such, or a
// std::pair or std::tuple of these: auto [id, data] = rpc(..).result(). Arguments and results may
// have any length; their memory may be reused on return.
//
// f runs in that process when it polls or waits, one function at a time. Where the program has
// several threads it runs in any of them that polls or waits, and functions that different threads
// have called may run at the same time (docs/threads.md; run_in_thread() hands over to one of
// them). It must be short, may access memory of processes on its node, and may not wait, poll, or
// call rpc(). If `proc` is this process, f runs before rpc() returns, and nothing notices if it
// does.
//
// Memory. f sees everything that its caller had written or seen before; what it writes is visible
// to the caller once the future is ready.
//
// Cost. Up to 48 bytes of captures and arguments, and up to 56 of a result: a short request and its
// reply, cheapest up to 16 bytes there and 8 back, which are never in memory. More: medium messages
// of 4 KiB, copied at both ends. Waits for a credit, polling, while 64 short messages (of another
// node: 1024), or 16 medium ones (64), are in flight to the same process.
//
// Threads: a thread of the program, outside handlers. Throws Error elsewhere, if there is no
// process `proc`, and if the processes run different programs. What f throws, a std::exception,
// comes out of the call in which that process polled, as an Error that names the caller, and so
// ends the job; out of rpc() itself in this process. Do not catch it there and go on: the caller,
// which gets no answer, would wait for ever. What handlers throw while rpc() waits for a credit
// comes out of it; a call of more than 4 KiB may have been made then all the same.
//
// Memory of results. A process keeps results of more than 4 KiB that it owes until their callers
// have taken them, in polls; no credit limits how many.
//
// After UPC++'s upcxx::rpc (Bachan et al., IPDPS '19), without its chains: an f that calls rpc().
template <class F, class... Args>
auto rpc(rpc_target proc, F f, const Args&... args) {
  return detail::start_rpc(proc, {"rpc", proc.where}, f, args...);
}
// Calls f(*p, args...) in the process of `p`, where *p is a T&.
template <class T, class F, class... Args>
auto rpc_at(global_ptr<T> p, F f, const Args&... args) {
  detail::check_target(p, "rpc_at");
  return detail::start_rpc(p.proc(), "rpc_at", detail::AtObject<T, F>{f, p.offset()}, args...);
}

// Calls an f that returns a std::vector, whose elements go to `to`, a vector, array, span ..
// (`lasting_elements`, splitc/world/elements.h), as they arrive, with no memory allocated here and
// no copy. The future is of how many there are. `to` may have room for more, which is left alone.
// As that of a get it lives, and is left alone, until the future is ready, or sync() has returned:
// also if the future is dropped. If they are too many, the Error comes out of the call in which
// this process polls, as what handlers throw, and `to` is as it was.
//
//   std::vector<double> row(n);
//   const std::size_t got = rpc_into(row, proc, &row_of, matrix, i).result();
template <lasting_elements To, class F, class... Args>
future<std::size_t> rpc_into(To&& to, rpc_target proc, F f, const Args&... args) {
  if constexpr (detail::check_call<true, F, Args...>()) {
    return detail::start_rpc_into(detail::destination_of(to), proc, {"rpc_into", proc.where}, f,
                                  args...);
  }
}

// rpc() without an answer: what f returns is dropped, and only quiesce() says that it has run.
// Cost: one message.
template <class F, class... Args>
void rpc_ff(rpc_target proc, F f, const Args&... args) {
  if constexpr (detail::check_call<false, F, Args...>()) {
    detail::start_one_way(proc, {"rpc_ff", proc.where}, f, args...);
  }
}
template <class T, class F, class... Args>
void rpc_ff_at(global_ptr<T> p, F f, const Args&... args) {
  detail::check_target(p, "rpc_ff_at");
  using At = detail::AtObject<T, F>;
  if constexpr (detail::check_call<false, At, Args...>()) {
    detail::start_one_way(p.proc(), "rpc_ff_at", At{f, p.offset()}, args...);
  }
}

void rpc(detail::refused<"rpc(process, function, arguments...): first the number of a process">,
         detail::anything = {}, detail::anything = {}, detail::anything = {});
void rpc_ff(detail::refused<"rpc_ff(process, function, arguments...): first the number of a "
                            "process">,
            detail::anything = {}, detail::anything = {}, detail::anything = {});
void rpc_at(detail::refused<"rpc_at(p, function, arguments...): p is &a[i] or another global_ptr">,
            detail::anything = {}, detail::anything = {}, detail::anything = {});
void rpc_ff_at(detail::refused<"rpc_ff_at(p, function, arguments...): p is &a[i] or another "
                               "global_ptr">,
               detail::anything = {}, detail::anything = {}, detail::anything = {});

// Collective: lets functions of a shared library be called, by everything of this room, as those of
// the program may: of the one that `function`, any of its functions, is in. For plug-ins, and for
// modules of other languages. All processes name the same libraries in the same order; they may lie
// elsewhere in each. To name one again changes nothing. The library stays loaded until run()
// returns.
//
//   add_library(&any_function_of_this_file);
//   rpc(proc, [](int x) { return x + 1; }, 41);
//
// Waits for the others. Throws Error, in every process, if the libraries are different files or
// builds; in a handler; and in another thread than the first of the program. Costs an exchange of
// 32 bytes among all, and the calls of its functions a search among the libraries at both ends.
template <class F>
requires std::is_function_v<F>
void add_library(F* function, am::Here where = {}) {
  detail::add_library(reinterpret_cast<std::uintptr_t>(function), {"add_library", where});
}

// Collective: returns when every rpc_ff() that any process has made before it has run, and
// everybody sees what these wrote. Costs a message and its answer for each process that this one
// has sent any to, and a barrier. In a program of several threads: that this thread has made, and
// those that have ended; the others call quiet() before.
void quiesce(am::Here where = {});
// Not collective: returns when every rpc_ff() that this thread has made has run. Costs a message
// and its answer for each process that it has sent any to. After OpenSHMEM's shmem_ctx_quiet.
void quiet(am::Here where = {});

}  // namespace splitc
