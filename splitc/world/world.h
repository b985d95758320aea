// world/ is what every other room of splitc/ stands on: where this process is in the global address
// space, the World that all goes through, the heap, the checks of addresses, the accesses that
// leave the node, and what sync() waits for. It may use am/ only. Apart from the start nothing in
// it is collective. Of the rooms above it knows only what they keep in the segment (segment.h).
//
// Of this file programs use poll(), wait_until(), get_seconds(), on_one() and on_proc(), at its
// end; and world(), to reach the layer below.
#pragma once

#include <cstdint>
#include <exception>
#include <span>

#include "am/core/bundle.h"
#include "am/table/sparse_table.h"
#include "am/types/types.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"
#include "splitc/world/tickets.h"
#include "splitc/world/waiter.h"

namespace am {
class Endpoint;
class Job;
class RemoteMemory;
class Router;
struct Config;
}  // namespace am

namespace splitc {

class Heap;

// One process's part in a running Split-C program: job, bundle, endpoint and heap. There is one,
// made by run(); everything in splitc/ goes through it. The thread that called run() owns it, and
// its bundle and endpoint are used by that thread only.
//
// A program that includes am/am.h may use job() and bundle(), for endpoints and channels of its
// own. The handlers of endpoint() are splitc's: leave that alone.
class World {
 public:
  // Collective: joins the job. Throws am::Error if that is not possible.
  explicit World(const am::Config& config);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  am::Job& job() noexcept { return job_; }
  am::Router& router() noexcept { return router_; }
  am::Bundle& bundle() noexcept { return bundle_; }
  am::Endpoint& endpoint() noexcept { return endpoint_; }  // index r: rank r
  Heap& heap() noexcept { return *heap_; }
  detail::Tickets& tickets() noexcept { return tickets_; }
  // Exists only if some processes are on other nodes.
  am::RemoteMemory& remote() noexcept { return *remote_; }

  // The runtime's memory in every segment (splitc/world/segment.h). Mapped only of processes on
  // this node.
  std::uint64_t edge_offset() const noexcept;
  const HeapEdge& edge(std::uint32_t proc) const noexcept;
  // Of this process, for what neighbours are to read that is not in its segment.
  std::span<std::byte> staging() const noexcept;
  // That of its groups; `index` below node_boards().
  NodeBoard& node_board(std::uint32_t proc, std::uint32_t index) const noexcept;
  // `near`: processes of the node that has most, as many as StoreLines counts for.
  std::uint32_t near() const noexcept;
  static std::uint64_t runtime_bytes(std::uint64_t segment_bytes, std::uint32_t near) noexcept;
  // What a segment has left for the heap. Throws Error if it is too small.
  static std::uint64_t heap_bytes(std::uint64_t segment_bytes, std::uint32_t rank,
                                  std::uint32_t near);

 private:
  void spoil() noexcept;  // in a child that was forked (am/types/forked.h)

  struct Parts;  // of am, which those who include this shall not have to know

  am::Owned<Parts> parts_;
  am::Job& job_;
  am::Router& router_;
  am::Bundle& bundle_;
  am::Endpoint& endpoint_;
  detail::Tickets tickets_;
  am::Owned<am::RemoteMemory> remote_;  // nullptr: all processes are on this node
  am::SparseTable<std::byte*> bases_;   // by process; what detail::place points to
  am::SparseTable<std::byte*> none_;    // as many, without any; none unless accesses are watched
  am::Owned<Heap> heap_;
};

namespace detail {
inline constinit World* running_world = nullptr;
[[noreturn]] void refuse_without_world();
}  // namespace detail

// The running world, valid until run() returns. Throws Error outside run(). A load and a test; any
// thread, but what it gives belongs to the world's thread.
inline World& world() {
  if (detail::running_world == nullptr) [[unlikely]]
    detail::refuse_without_world();
  return *detail::running_world;
}

namespace detail {

inline constinit thread_local bool is_worlds_thread = false;  // it called run()
[[noreturn]] void refuse_thread(Call call);
[[noreturn]] void refuse_wait(Call call);
// Ends the job, for calls that cannot throw.
[[noreturn]] void end_by(const std::exception& error) noexcept;

// Throws Error if an operation that is not complete uses memory of a function that has returned: it
// would be written to when that is another's.
void check_frames();
// Checks frames where all functions whose frames are below `frame` have returned.
void check_frames_below(const void* frame);
// At the end of the program. Throws Error in checked builds if an operation that uses any memory of
// the program is not complete.
void check_end();

// Throws Error unless this is the thread that called run().
inline void check_thread(Call call) {
  if (!is_worlds_thread) [[unlikely]]
    refuse_thread(call);
}
// Refuses unless it is the world's thread, and may wait: a handler may not, nor may a function that
// atomic() runs.
inline void check_may_wait(Call call) {
  check_thread(call);
  if (world().bundle().handling()) [[unlikely]]
    refuse_wait(call);
  if constexpr (am::kChecked) check_frames();
}

}  // namespace detail

// Makes progress once: runs the handlers of messages that have arrived for this process and the
// callbacks of its channels, serves what others want of it, sends what the network had no room for.
// Never waits. Returns how many things it has done; 0 means that nothing was there.
//
// Long computations call it now and then: others wait for at most the time between two calls, if
// they call atomic() here, or access memory here over a network whose provider is software.
// Everything that waits polls anyway. Costs 5 to 7 ns when there is nothing to do, and with far
// processes 130 to 300 ns. Where processes share cores, every second one that finds nothing gives
// up the core.
//
// Tasks go on here, too (splitc/async/task.h).
//
// The world's thread. Throws Error in a handler; what a handler throws comes out of it.
int poll();

// Polls until `condition()` is true, and tasks go on meanwhile. Another process may make it true by
// any means: by a message, or by plain writes and puts to memory that the condition looks at, which
// wake nobody; so the condition is evaluated at least every millisecond.
//
// The condition is cheap, as it is evaluated often, and does not wait. It should look at this
// process's own memory: a far access in it is a round trip each time. Do not write a loop of plain
// loads instead: nothing from other nodes arrives in it.
//
// The world's thread. Throws Error in a handler; what a handler or the condition throws comes out.
template <class Condition>
void wait_until(Condition&& condition, am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_may_wait({"wait_until", where});
  const auto explain = [&where] { return am::Reason{.call = {"wait_until", where}}; };
  bool fulfilled = false;
  do {
    detail::run_ready();  // tasks go on
    world().bundle().wait_until(
        [&] { return (fulfilled = condition()) || detail::can_run_ready(); }, am::Wake::kMemory,
        explain);
  } while (!fulfilled);
}

// Seconds since some moment in the past, by the machine's monotonic clock: Split-C's get_seconds.
// For differences. Processes of one machine read the same clock, those of several do not. Any
// thread.
double get_seconds() noexcept;

// Calls body() on process 0 only: Split-C's on_one. Not collective: the others go on at once; call
// barrier() behind it where they are to wait.
template <class Body>
void on_one(Body&& body) {
  if (my_proc() == 0) body();
}
// Calls body() on process `proc` only: Split-C's on_proc. On no process if there is no such one.
template <class Body>
void on_proc(std::uint32_t proc, Body&& body) {
  if (my_proc() == proc) body();
}

}  // namespace splitc
