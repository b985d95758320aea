#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "am/am.h"
#include "am/remote_memory.h"
#include "am/source_location.h"
#include "splitc/board.h"
#include "splitc/heap.h"
#include "splitc/place.h"
#include "splitc/remote_call.h"
#include "splitc/tickets.h"

namespace splitc {

class store_counter;

// One process's part in a running Split-C program: job, bundle, endpoint and heap. There is one,
// made by run(); everything in splitc/ goes through it. The thread that called run() owns it.
//
// What the library keeps at the start of every process's segment, all zero at first:
//
//   StoreLine[procs]   what each process has stored here, on the default counter (splitc/store.h)
//   Heap::Edge         how far down the local side of the heap reaches (a cache line)
//   Board[2]           what this process shows in collective calls (splitc/board.h)
class World {
 public:
  explicit World(const am::Config& config);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  am::Job& job() noexcept { return job_; }
  am::Router& router() noexcept { return job_.router(); }
  am::Bundle& bundle() noexcept { return bundle_; }
  am::Endpoint& endpoint() noexcept { return endpoint_; }  // index r: rank r
  Heap& heap() noexcept { return heap_; }
  detail::RemoteCalls& calls() noexcept { return calls_; }
  detail::Tickets& tickets() noexcept { return tickets_; }
  // Only if some processes are on other nodes.
  am::RemoteMemory& remote() noexcept { return *remote_; }

  // The runtime's memory in every segment; see above. Mapped only of processes on this node.
  std::uint64_t edge_offset() const noexcept;
  std::uint64_t board_offset(unsigned parity) const noexcept;
  const Heap::Edge& edge(std::uint32_t proc) const noexcept;
  Board& board(std::uint32_t proc, unsigned parity) const noexcept;
  static std::uint64_t runtime_bytes(std::uint32_t procs) noexcept;
  // What a segment has left for the heap. Throws Error if it is too small.
  static std::uint64_t heap_bytes(std::uint64_t segment_bytes, std::uint32_t rank,
                                  std::uint32_t procs);

  // Collective rounds so far, and whether this process is between the halves of a barrier.
  std::uint64_t& rounds() noexcept { return rounds_; }
  bool& notified() noexcept { return notified_; }

  void finish();  // collective, last

 private:
  am::Job job_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  detail::Tickets tickets_;
  std::unique_ptr<am::RemoteMemory> remote_;  // nullptr: all processes are on this node
  detail::RemoteCalls calls_;
  std::vector<std::byte*> bases_;  // by process; what detail::place points to
  Heap heap_;
  std::unique_ptr<store_counter> stores_;  // the default counter
  std::uint64_t rounds_ = 0;
  bool notified_ = false;
};

// The running world. Throws Error outside run().
World& world();

namespace detail {

inline constinit thread_local bool is_worlds_thread = false;  // it called run()
[[noreturn]] void refuse_thread(Call call);
[[noreturn]] void refuse_wait(Call call);

// Throws Error unless this is the thread that called run().
inline void check_thread(Call call) {
  if (!is_worlds_thread) [[unlikely]]
    refuse_thread(call);
}
// The same, and unless it may wait: a handler may not, nor may a function that atomic() runs.
inline void check_may_wait(Call call) {
  check_thread(call);
  if (world().bundle().handling()) [[unlikely]]
    refuse_wait(call);
}
// barrier(), on behalf of `call`.
void meet(Call call);

}  // namespace detail

// The arguments of the program, as in main().
class Args {
 public:
  Args(int argc, char** argv) noexcept : argc_(argc), argv_(argv) {}
  int size() const noexcept { return argc_; }
  // The i-th; 0 is the program. Throws Error if there is none.
  const char* operator[](int i) const;
  int argc() const noexcept { return argc_; }
  char** argv() const noexcept { return argv_; }

 private:
  int argc_;
  char** argv_;
};

namespace detail {
int run_program(int argc, char** argv, int (*body)(void* context, Args args), void* context);
}

// Runs `program(Args)` on every process of the job: one when started bare, N under splitcrun
// (Split-C's splitc_main). Returns what main() shall return: the program's result, or 0 if it is
// void. An exception that leaves the program ends the whole job with its text. All processes must
// return from the program; then they meet, so that nobody's memory goes while another needs it.
template <class Program>
int run(int argc, char** argv, Program&& program) {
  auto* callee = &program;  // of an object or a function
  const auto body = [](void* context, Args args) -> int {
    auto& call = **static_cast<std::remove_reference_t<Program>**>(context);
    if constexpr (std::is_void_v<decltype(call(args))>) {
      call(args);
      return 0;
    } else {
      return call(args);
    }
  };
  return detail::run_program(argc, argv, body, &callee);
}

// Waits for all processes, making progress meanwhile. What each wrote or stored before is visible
// to all after it; complete own gets and puts with sync() first.
// `where`, here and in all calls that may wait, is the place of the call: errors name it, and the
// report on a job that stands still does.
void barrier(am::SourceLocation where = am::SourceLocation::current());

// The two halves of a barrier: between them this process may do work that needs no other.
// Every notify is followed by one wait; no other collective call comes between.
void barrier_notify(am::SourceLocation where = am::SourceLocation::current());
void barrier_wait(am::SourceLocation where = am::SourceLocation::current());

// Handles what has arrived for this process; returns how many messages. Long computations that
// serve others' atomic() calls may want to call it now and then.
int poll();

// Polls until `condition()` is true. Another process may make it true by any means.
template <class Condition>
void wait_until(Condition&& condition, am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_may_wait({"wait_until", where});
  world().bundle().wait_until(condition, am::Wake::kMemory, [&where] {
    return am::Reason{"wait_until", where};
  });
}

// Wall-clock time in seconds since some moment in the past.
double get_seconds() noexcept;

// Runs `body` on process 0, or on `proc`, only.
template <class Body>
void on_one(Body&& body) {
  if (my_proc() == 0) body();
}
template <class Body>
void on_proc(std::uint32_t proc, Body&& body) {
  if (my_proc() == proc) body();
}

}  // namespace splitc
