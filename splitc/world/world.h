// world/ is what every other room of splitc/ stands on: where this process is in the global address
// space, the World that all goes through, the heap, the checks of addresses, the accesses that
// leave the node, and what sync() waits for. It may use am/ only. Apart from the start nothing in
// it is collective. Of the rooms above it knows only what they keep in the segment (segment.h).
//
// Programs use poll(), wait_until(), get_seconds(), on_one() and on_proc(), at the end of this
// file, and world(), to reach the layer below.
#pragma once

#include <cstdint>
#include <exception>
#include <span>

#include "am/core/bundle.h"
#include "am/table/sparse_table.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/world/context.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"
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
// made by run(); everything in splitc/ goes through it. Each thread that uses it has a
// detail::Context of its own, that which called run() from the beginning.
//
// A program that includes am/am.h may use job() and bundle(), for endpoints and channels of its
// own. The handlers of endpoint() are splitc's: leave that alone.
class World {
 public:
  // Collective: joins the job. At most `threads` threads will use it. Throws am::Error if that is
  // not possible.
  World(const am::Config& config, std::uint32_t threads);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  am::Job& job() noexcept { return job_; }
  am::Router& router() noexcept { return router_; }
  // The bundle and the endpoint of the calling thread.
  am::Bundle& bundle() { return detail::context().bundle; }
  am::Endpoint& endpoint() { return detail::context().endpoint; }  // index r: rank r
  // To which the requests of all threads of all processes come. With several threads the bundle is
  // parallel, so that any of them that polls serves others; with one they are bundle(), endpoint().
  am::Bundle& service_bundle() noexcept { return bundle_; }
  am::Endpoint& service() noexcept { return endpoint_; }
  detail::Contexts& contexts() noexcept { return contexts_; }
  Heap& heap() noexcept { return *heap_; }

  // The runtime's memory in every segment (splitc/world/segment.h). Mapped only of processes on
  // this node.
  std::uint64_t edge_offset() const noexcept;
  const HeapEdge& edge(std::uint32_t proc) const noexcept;
  // Memory of this process for copies of what neighbours are to read and its segment does not hold.
  std::span<std::byte> staging() const noexcept;
  // That of its groups; `index` below node_boards().
  NodeBoard& node_board(std::uint32_t proc, std::uint32_t index) const noexcept;
  // Threads of all processes of the node that has most: StoreLines counts for each of them.
  std::uint32_t storers() const noexcept;
  static std::uint64_t runtime_bytes(std::uint64_t segment_bytes, std::uint32_t storers) noexcept;
  // What a segment has left for the heap. Throws Error if it is too small.
  static std::uint64_t heap_bytes(std::uint64_t segment_bytes, std::uint32_t rank,
                                  std::uint32_t storers);

 private:
  void spoil() noexcept;  // in a child that was forked (am/types/forked.h)
  void make_none() noexcept;

  struct Parts;  // of am, which includers of this header need not know

  am::Owned<Parts> parts_;
  am::Job& job_;
  am::Router& router_;
  am::Bundle& bundle_;
  am::Endpoint& endpoint_;
  detail::Contexts contexts_;
  am::SparseTable<std::byte*> bases_;  // by process; what detail::place points to
  am::SparseTable<std::byte*>
      none_;  // as many, without any; none if no access is to take that route
  am::Owned<Heap> heap_;
};

namespace detail {
inline constinit World* running_world = nullptr;
[[noreturn]] void refuse_without_world();
}  // namespace detail

// The running world, valid until run() returns. Throws Error outside run(). A load and a test; any
// thread, but what it gives is for threads of the program.
inline World& world() {
  if (detail::running_world == nullptr) [[unlikely]]
    detail::refuse_without_world();
  return *detail::running_world;
}

namespace detail {

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

// Refuses unless the calling thread may use the address space, and may wait: a handler may not, nor
// may a function that rpc() or atomic() runs.
inline void check_may_wait(Call call) {
  check_thread(call);
  if (am::Bundle::handling()) [[unlikely]]
    refuse_wait(call);
  if constexpr (am::kChecked) check_frames();
}

// How the calling thread waits on behalf of another call, as am::Bundle::wait_until(): it serves
// others meanwhile, and another thread's handler may make the condition true.
void wait_among_threads(am::FunctionRef<bool()> condition, am::Wake wake,
                        am::FunctionRef<am::Reason()> explain);
template <class Condition, class Explain>
void wait_polling(Condition&& condition, am::Wake wake, const Explain& explain) {
  if (is_threaded()) [[unlikely]]
    return wait_among_threads(condition, wake, explain);
  context().bundle.wait_until(condition, wake, explain);
}
// wait_polling() that polls all bundles of the calling thread.
template <class Condition, class Explain>
void wait_with_siblings(Condition&& condition, const Explain& explain) {
  if (is_threaded()) [[unlikely]]
    return wait_among_threads(condition, am::Wake::kRung, explain);
  context().bundle.wait_with_siblings(condition, explain);
}
// A bundle for the waits of am/, in which all of these are polled.
inline am::Bundle& waiting_bundle() {
  return is_threaded() ? world().service_bundle() : context().bundle;
}
// Polls what the calling thread has to poll, without its tasks.
int poll_bundles();

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
// A thread of the program. Throws Error in a handler; what a handler throws comes out of it.
int poll();

// For programs that wait in an event loop of their own, beside other descriptors: one that becomes
// readable when poll() has something to do, once arm() has said so. The library's, not to be read
// or closed.
//
//   while (!splitc::arm()) splitc::poll();   // the last call into the library before the sleep
//   epoll_wait(...);                         // splitc::event_fd() is in the set, for EPOLLIN
//   splitc::poll();
//
// arm(): false: something is there already, or a task can go on. What others write or put here
// without a message wakes nobody, see wait_until(). See am::Bundle::event_fd() and arm().
//
// The thread of a program of one thread; Error in others. Throw Error in a handler, too, and
// event_fd() if no more descriptors may be had.
int event_fd();
bool arm();

// Polls until `condition()` is true, and tasks go on meanwhile. Another process may make it true by
// any means: by a message, or by plain writes and puts to memory that the condition reads, which
// wake no sleeper; so the condition is evaluated at least every millisecond.
//
// The condition is cheap, as it is evaluated often, and does not wait. It should read this
// process's own memory: a far access in it is a round trip each time. Do not write a loop of plain
// loads instead: nothing from other nodes arrives in it.
//
// A thread of the program. Throws Error in a handler; what a handler or the condition throws comes
// out.
template <class Condition>
void wait_until(Condition&& condition, am::Here where = {}) {
  detail::check_may_wait({"wait_until", where});
  const auto explain = [&where] { return am::Reason{.call = {"wait_until", where}}; };
  bool fulfilled = false;
  do {
    detail::run_ready();  // tasks go on
    detail::wait_polling([&] { return (fulfilled = condition()) || detail::can_run_ready(); },
                         am::Wake::kMemory, explain);
  } while (!fulfilled);
}

// Which thread of this process calls: 0 is the one that called run(), and the others have numbers
// in the order in which they first called the library, below the .threads of run(). The number of
// one that has ended is given to the next. Any thread; some ns.
std::uint32_t my_thread();

// Lets function() run in that thread of this process, when it polls or waits: how a function that
// another process has run here, in whatever thread polled, hands over what only one thread may
// touch. It runs once, behind what was handed over before, and like a handler may not wait; what it
// throws comes out of that poll. Throws Error if there is no such thread. Costs an allocation, and
// a system call if a thread of this process sleeps. Any thread, handlers included. After UPC++'s
// personas and their lpc().
void run_in_thread(std::uint32_t thread, am::Function<void()> function, am::Here where = {});

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
