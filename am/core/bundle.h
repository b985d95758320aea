// am/core: endpoints and the bundles they are polled in. Sending, dispatch, replies, what comes
// back, and the only loop that waits. It uses am/message, am/one_sided, am/route and shmem; what
// else makes progress in a poll (channels, zero-copy buffers) is added as a Poller. Handlers run
// inside poll() and nowhere else, never one inside another; a request has reserved the room for its
// reply.
#pragma once

#include <sched.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "am/core/backoff.h"
#include "am/route/activity.h"
#include "am/types/source_location.h"
#include "shmem/doorbell.h"

namespace am {

class Endpoint;
class FarMessages;
class Poller;
class Process;
class Router;

// What Bundle::wait() waits for (AM-II's event mask).
enum class Events : std::uint8_t {
  kNone,      // AM_NOEVENTS
  kNotEmpty,  // AM_NOTEMPTY: some endpoint has a message; true at once if one is there already
};

// How a process that sleeps in wait_until() learns that the condition may be true.
enum class Wake : std::uint8_t {
  kRung,    // by a message, or by another process that rings its doorbell: sleeps until then
  kMemory,  // not at all, as memory was written without ringing: looks again every millisecond
};

// Endpoints that are polled and waited for together: the unit of progress (AM-II's eb_t, with the
// access mode AM_SEQ).
//
//   am::Bundle bundle(job);
//   am::Endpoint endpoint(bundle);
//   ...
//   bundle.wait_until([&] { return answer != 0; });        // polls until a handler has set it
//
//   while (!done) {                                        // a server that sleeps while idle
//     bundle.wait(am::Events::kNotEmpty);
//     bundle.poll();
//   }
//
//   for (;;) {                                             // a computation that serves others
//     if (!step()) break;
//     bundle.poll();
//   }
//
// What polls what:
//
//   call                                                polls
//   poll(), wait_until()                                this bundle
//   wait()                                              nothing: it only looks
//   requests without credit, unmap(), flush(),          this bundle and all others of the calling
//   Job::barrier(), quiesce(), finish()                 thread
//
// Thread rule. One thread at a time may be inside a bundle and its endpoints; the library takes no
// lock. In a job that spans nodes one thread at a time may be inside all bundles of the process, as
// they share a port. Handlers run in the thread that polls, never inside one another: they may not
// poll or wait in any bundle.
//
// Owner. A bundle belongs to the thread that made it, until another thread has polled it; then to
// that one. The calls that poll all bundles of the calling thread do so because the process that
// they wait for may be waiting for one of these. So let a bundle that goes to another thread be
// made there, or be polled there once before this thread sends requests.
//
// Waiting backs off: it spins, yields the core, sleeps until another process rings. With a core
// for each process a short wait costs no system call; a sleeping process is woken in 5 to 40 us. A
// handler that throws while a call waits ends that call: the exception comes out of it.
class Bundle {
 public:
  // `process` outlives the bundle. An am::Job converts to one.
  explicit Bundle(Process& process);
  // Its endpoints, channels and pollers have been destroyed before. Ends the job with a sentence if
  // a call of this bundle that polls or waits is running.
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  // Makes progress once (AM_Poll): delivers what has arrived, a bounded number of messages of each
  // sender, runs the callbacks of channels and pollers, and sends what the network had no room for.
  // Never waits. Returns how many messages and other things it has handled.
  //
  // What a handler throws comes out; the other messages stay for the next poll. Throws Error in a
  // handler or callback. Costs 5 to 7 ns when nothing is there, with 2 processes or with 64, and
  // 130 to 300 ns with processes on other nodes.
  int poll() { return poll(false); }

  // Sleeps until one of the events, at most `timeout_ns` nanoseconds; negative: no limit (AM_Wait).
  // Runs no handler: call poll() afterwards. Does not spin before it sleeps. Looks at this bundle
  // only, and keeps what comes for others.
  //
  // Returns true if the event has come, false after the time. Throws Error for Events::kNone, which
  // would never return, and in a handler or callback.
  bool wait(Events events, std::int64_t timeout_ns = -1,
            SourceLocation where = SourceLocation::current());

  // Polls this bundle until `condition()` is true; returns at once, without polling, if it is. The
  // only loop of the library that waits. The condition is evaluated often, must be cheap, may not
  // wait, and is not evaluated again after it was true: it may be an attempt, such as a
  // try_request. Throws Error in a handler or callback, if it would have to poll. `where` is the
  // place of the call, which the report on a job that stands still names.
  template <class Condition>
  void wait_until(Condition&& condition, Wake wake = Wake::kRung,
                  SourceLocation where = SourceLocation::current()) {
    wait_until(condition, wake, [&where] { return Reason{"Bundle::wait_until", where}; });
  }
  // The same on behalf of another call: explain() returns the Reason that the report shows. It is
  // evaluated before sleeps only.
  template <class Condition, std::invocable Explain>
  void wait_until(Condition&& condition, Wake wake, const Explain& explain) {
    wait_for<false>(condition, wake, explain);
  }

  // The same, polling all bundles of the calling thread.
  template <class Condition, std::invocable Explain>
  void wait_with_siblings(Condition&& condition, const Explain& explain) {
    wait_for<true>(condition, Wake::kRung, explain);
  }

  // As wait_until(released), for a transfer to another node that uses memory of the caller until
  // then: what a handler throws comes out only after it. No more handlers run from the exception
  // until then; their messages stay for the next poll.
  void wait_until_released(const bool& released, const Reason& reason);

  // Endpoint::flush() of every endpoint in this bundle: waits until everything they have sent has
  // been handled, or has come back. Throws Error in a handler or callback.
  void flush(SourceLocation where = SourceLocation::current()) { flush("Bundle::flush", where); }
  void flush(const char* call, const SourceLocation& where);

  // Takes `endpoint` over from the bundle it is in (AM_MoveEndpoint), of which the caller has the
  // use as well. Its messages, credits and tables stay with it. Throws Error in a handler of either
  // bundle, and if it belongs to another job. Ends the job if a call of it is waiting.
  void adopt(Endpoint& endpoint);

  // Makes `poller` part of poll(). It is the caller's, and lives until remove(). Both are allowed
  // in handlers and callbacks.
  void add(Poller& poller);
  // The same for one that the bundle owns, until it ends.
  void keep(std::unique_ptr<Poller> poller);
  void remove(Poller& poller) noexcept;

  // The endpoints in this bundle, in the order they came; valid until one comes or goes.
  const std::vector<Endpoint*>& endpoints() const noexcept { return endpoints_; }
  Process& process() const noexcept { return process_; }
  // The routes to all processes of the job, and this process's segment.
  Router& router() const noexcept { return router_; }
  // Polls the other bundles of this process that belong to the calling thread; returns the sum. Not
  // in a handler.
  int poll_siblings();
  // The thread that this bundle belongs to, as this_thread() names it. Any thread.
  const void* owner() const noexcept { return owner_.load(std::memory_order_relaxed); }
  static const void* this_thread() noexcept { return &thread(); }

  // What this bundle is doing, for other processes and the launcher to read.
  Activity& activity() const noexcept { return *activity_; }
  // Whether a handler or callback, of this or another bundle, runs in the calling thread: nothing
  // may wait then. Any thread, of itself.
  static bool handling() noexcept { return thread().handles; }
  // Inside poll() of this one; and in a handler, not in a callback.
  bool polling() const noexcept { return inside_ != Inside::kNothing; }
  bool in_handler() const noexcept { return inside_ == Inside::kHandler; }

  // Throws Error("rank R: " + call + ": " + what): how calls of this room and those above refuse.
  [[noreturn]] void refuse(const std::string& call, const std::string& what) const;

  // Marks a call that waits and runs handlers: while it lives, the bundle may not end, which would
  // end the job.
  class Waiting {
   public:
    explicit Waiting(Bundle& bundle) noexcept : count_(bundle.waiting_) { ++count_; }
    ~Waiting() { --count_; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    int& count_;
  };

 private:
  friend class Endpoint;
  friend class FarMessages;

  // One per thread.
  struct Thread {
    bool handles;
  };
  static Thread& thread() noexcept {
    static thread_local Thread own{};
    return own;
  }

  // Which part of poll() is running, if any.
  enum class Inside : std::uint8_t { kNothing, kHandler, kPoller };

  // One attempt to sleep. Loads after its construction see what neighbours have written before, and
  // a neighbour that writes later rings the doorbell; but see shmem/fence.h.
  class Nap {
   public:
    explicit Nap(Bundle& bundle) noexcept;
    void sleep(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept;

   private:
    Router& router_;
    std::uint32_t ticket_;
  };

  // The only loop that waits. kSiblings: it polls all bundles of the calling thread.
  //
  // Progress of any kind restarts the backoff (spin, yield, sleep). Before the loop sleeps it
  // registers as asleep (Nap), and then checks once more: a neighbour that writes after that check
  // finds it registered, and rings.
  template <bool kSiblings, class Condition, class Explain>
  void wait_for(Condition& condition, Wake wake, const Explain& explain) {
    if (condition()) return;
    const Waiting waiting(*this);
    ShownWait shown(*activity_);
    Backoff backoff = backoff_;
    shmem::SleepLimit limit;
    bool spinning = true;
    Backoff::leave_line();
    for (;;) {
      int count = poll(spinning);
      if constexpr (kSiblings) count += poll_siblings();
      if (count != 0) {
        backoff.reset();
        shown.progressed();
      }
      if (condition()) return;
      if (count == 1) Backoff::leave_line();
      const Backoff::Step step = backoff.next();
      spinning = step == Backoff::Step::kSpin;
      switch (step) {
        case Backoff::Step::kSpin: Backoff::pause(); break;
        case Backoff::Step::kYield: sched_yield(); break;
        case Backoff::Step::kShow:
          show(shown, explain());
          backoff.reset();
          break;
        case Backoff::Step::kBlock: {
          show(shown, explain());
          Nap nap(*this);
          // nap's fence orders these checks after the announcement of the sleep. Siblings are
          // polled, not asked: their work may be what makes the condition true.
          bool found = kSiblings && poll_siblings() != 0;
          if (found) shown.progressed();
          found = has_message() || found || (kSiblings && siblings_late());
          if (condition()) return;
          if (!found)
            nap.sleep(limit, wake == Wake::kMemory ? limit.kShortestNs : limit.kLongestNs);
        }
      }
    }
  }

  // Whether the network has been read for a bundle of the calling thread, this one included, that
  // has not been polled since: nothing would wake this process for that.
  bool siblings_late() const noexcept;
  bool is_late() const noexcept;  // ... for this bundle
  // With `spinning` the network is polled only now and then if nothing is expected from it.
  int poll(bool spinning);
  int poll_all(bool spinning);  // the same, without the guards
  [[noreturn]] void refuse_poll() const;
  int poll_others();  // the pollers
  // Whether poll() may find something.
  bool has_message() noexcept;
  // The same of channels and pollers, as far as is known without polling the network.
  bool others_have_work() const noexcept;
  // Makes this a bundle of `thread`, which polls it for the first time.
  void change_owner(const void* thread);
  // Takes `endpoint` out of the list; ends the job if it is in use.
  void leave(Endpoint& endpoint);
  // Publishes what this process is about to sleep for, where others can read it.
  void show(ShownWait& wait, const Reason& reason);

  // Constant after construction.
  Process& process_;
  Router& router_;
  FarMessages* const far_;  // nullptr: no processes on other nodes
  const Backoff backoff_;   // at its foot
  // Owned by the bundle's thread.
  std::unique_ptr<Activity> own_activity_;     // nobody reads it; nullptr: uses the process's
  Activity* activity_ = nullptr;               // of the process, or the own one
  std::vector<Endpoint*> endpoints_;           // in the order they are polled
  std::vector<Poller*> pollers_;               // likewise, after the endpoints
  std::vector<std::unique_ptr<Poller>> kept_;  // some of these
  Inside inside_ = Inside::kNothing;
  const Endpoint* active_ = nullptr;  // whose messages poll() is delivering, if it is
  int waiting_ = 0;                   // objects of class Waiting
  // Written by whoever polls, read by any thread; no other memory is published by it.
  std::atomic<const void*> owner_{nullptr};
  // When show() next asks whether the network still works, and how long after the last time.
  std::int64_t verify_at_ns_ = 0;
  std::int64_t verify_after_ns_ = 0;
};

}  // namespace am
