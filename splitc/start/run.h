// start/ begins and ends a program. It may use the rooms that have something to set up: world/,
// rpc/ and access/; no room may use it. All processes set up the same in the same order.
//
//   int main(int argc, char** argv) {
//     return splitc::run(argc, argv, [](splitc::Args args) { ... });
//   }
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "splitc/world/place.h"
#include "splitc/world/refused.h"

namespace am {
struct OutOfBand;
}

namespace splitc {

// The arguments of the program, as main() was given them. A view: it copies no string, and is valid
// as long as argv is, which is until main() returns. Any thread.
class Args {
 public:
  Args(int argc, char** argv) noexcept : argc_(argc), argv_(argv) {}
  // How many there are, the name of the program included.
  int size() const noexcept { return argc_; }
  // Argument `i`, from 0, the name of the program, to size() - 1. Throws Error if there is none.
  const char* operator[](detail::Index i) const;
  // The two arguments of main(), for libraries that parse them.
  int argc() const noexcept { return argc_; }
  char** argv() const noexcept { return argv_; }

 private:
  int argc_;
  char** argv_;
};

// How a program is run.
struct RunOptions {
  // How many threads of each process use the global address space, at most; 1 to 128 (in
  // docs/threads.md: what they may do, and what it costs). Every process gives the same number.
  std::uint32_t threads = 1;
};

namespace detail {

// A program that has begun: the world, and what it runs on.
struct Running;
// Its owner; nullptr: there is none.
class RunningPointer {
 public:
  explicit RunningPointer(Running* running = nullptr) noexcept : running_(running) {}
  RunningPointer(RunningPointer&& other) noexcept : running_(std::exchange(other.running_, {})) {}
  RunningPointer& operator=(RunningPointer&& other) noexcept {
    std::swap(running_, other.running_);
    return *this;
  }
  ~RunningPointer() { reset(); }
  void reset() noexcept;  // ends it
  Running& operator*() const noexcept { return *running_; }
  explicit operator bool() const noexcept { return running_ != nullptr; }

 private:
  Running* running_;
};

// Throws Error if a program is running already: `call` would begin another.
void check_none_runs(Call call);
// Joins the job that `others` brings together; nullptr: that of the launcher. No program is
// running. Collective. If the job cannot be joined: throws Error where `others` is nullptr, else
// ends this process and the others, which wait for it.
RunningPointer begin_program(const am::OutOfBand* others, const RunOptions& options = {});
// What the end of run() waits for. Collective. What a handler throws comes out; then call it again.
void finish_program(Running& running, Call call);
// Ends every process of the job with `sentence`, behind the rank.
[[noreturn]] void abort_program(Running& running, const char* sentence);

// run() without its template: calls body(context, args) inside the job.
int run_program(int argc, char** argv, const RunOptions& options,
                int (*body)(void* context, Args args), void* context, const am::OutOfBand* others);

template <class Program>
int run_program(int argc, char** argv, const RunOptions& options, Program& program,
                const am::OutOfBand* others) {
  constexpr bool kTakesArgs = std::is_invocable_v<Program&, Args&>;
  static_assert(kTakesArgs, "run() takes a function of splitc::Args: [](Args args) { .. }");
  auto* callee = &program;  // of an object or a function
  const auto body = [](void* context, Args args) -> int {
    auto& call = **static_cast<Program**>(context);
    if constexpr (!kTakesArgs) {
      return 1;  // refused above
    } else if constexpr (std::is_void_v<decltype(call(args))>) {
      call(args);
      return 0;
    } else {
      return call(args);
    }
  };
  return run_program(argc, argv, options, body, &callee, others);
}

}  // namespace detail

// Joins the job, runs `program(Args)` in this process, and leaves the job: Split-C's splitc_main.
// The job has one process when the program is started by itself, and N under splitcrun or another
// launcher (docs/launching.md).
//
// `program` is any function or function object that returns void or something that converts to int;
// it is called once, in the calling thread, which is the first thread of the program until run()
// returns. It is not copied.
//
// Returns what main() is to return: the program's result, or 0 if that is void. If the job cannot
// be started, prints the reason to stderr and returns 1. An exception that leaves the program, or
// that a handler throws while run() ends, ends every process of the job and prints its text.
//
// Waits twice for the other processes. At the start until all have joined. At the end until all
// have returned from the program, this process's gets and puts are complete, stores to other nodes
// on the default counter have landed and no message is in flight: a job loses nothing that it has
// sent, and no process's memory goes while another uses it. Handlers run meanwhile.
//
// At most one run() at a time in a process: a second one inside the first throws Error.
template <class Program>
int run(int argc, char** argv, Program&& program) {
  return detail::run_program(argc, argv, {}, program, nullptr);
}
// A program of several threads, each of which may read, write, get, put, store, call functions and
// wait: run(argc, argv, {.threads = 4}, program). `program` is called once, in the calling thread;
// it makes the others, by any means (std::thread, OpenMP), and they are not inside the library any
// more when it returns. A thread counts from its first call that needs the library until it ends.
// Errors as above, and if `threads` is none that can be.
template <class Program>
int run(int argc, char** argv, const RunOptions& options, Program&& program) {
  return detail::run_program(argc, argv, options, program, nullptr);
}
void run(detail::refused<"run(argc, argv, [](Args args) { .. }), and options before the function">,
         detail::anything = {}, detail::anything = {}, detail::anything = {});

}  // namespace splitc
