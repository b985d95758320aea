// am/core: endpoints and the bundles they are polled in. Sending, dispatch, replies, what comes
// back, and the only loop that waits. It uses am/message, am/far, am/route and shmem; what else
// makes progress in a poll (channels, zero-copy buffers) is added as a Poller. Handlers run inside
// poll() and nowhere else, never one inside another; a request has reserved the room for its reply.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "am/observe/activity.h"
#include "am/sync/backoff.h"
#include "am/sync/locks.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "shmem/doorbell.h"

namespace am {

class Endpoint;
class EventDescriptor;
class FarMessages;
class Poller;
class Process;
class Router;
class WaitTime;

// Which threads use a bundle and its endpoints (AM-II's access mode).
enum class Access : std::uint8_t {
  kSequential,  // AM_SEQ: one thread at a time, which the program sees to; no lock is taken
  kParallel,    // AM_PAR: any threads, at any time
};

// Endpoints that are polled and waited for together: the unit of progress (AM-II's eb_t).
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
// Thread rule of a sequential bundle. One thread at a time may be inside it and its endpoints, for
// which the library takes no lock; several bundles may be used by as many threads at once. In a job
// that spans nodes they share a port: the first endpoint of a second thread, or its first message,
// waits there until the call that the first thread is in has returned, with its handlers, and from
// then on a far message costs a copy and the turns of a lock more (am/route/port.h).
//
// Thread rule of a parallel bundle. Any threads may make all calls of the bundle and its endpoints
// at the same time. One lock is taken for each call and each poll, but not while a handler runs:
//  * Handlers of different senders run at the same time, in as many threads as poll. Those of the
//    messages that one sender has sent of one kind run one after another, in their order; so do
//    those of the replies to the requests of one kind to one translation. (A sender is one
//    translation of another endpoint: one that has mapped this endpoint twice is two of them.)
//  * set_tag(), set_segment(), set_handler() and its sisters, on_returned(), adopt() and the end of
//    an endpoint wait until no handler of that endpoint runs, and none starts meanwhile. So they
//    throw Error in a handler if they would have to wait, as in the endpoint's own; but the end of
//    an endpoint waits in a handler of another, which may not be waited for there.
//  * Pollers are polled by one thread at a time, without the lock. Channels and zero-copy buffers
//    are for sequential bundles, and throw Error if they are made in this one.
//  * The end of the bundle, and the move of an endpoint to or from a sequential bundle, are for
//    when no other thread is inside, or will be.
// In a job that spans nodes the first of them makes the port a shared one, as a second thread does;
// its constructor waits likewise, and throws Error in a handler. Messages of other nodes run one
// after another if they are of one sender, whatever their kinds.
//
// In both, handlers run in the thread that polls, never inside one another: they may not poll or
// wait in any bundle.
//
// Owner. A parallel bundle belongs to all threads: each of them polls it where it polls the bundles
// of the calling thread. A sequential one belongs to the thread that made it, until another thread
// has polled it, or waited in it; then to that one, and what other threads receive for it stays
// until that one polls. The calls that poll all bundles of the calling thread do so
// because the process that they wait for may be waiting for one of these. So let a bundle that goes
// to another thread be made there, or be polled there once before this thread sends requests.
//
// Waiting backs off: it spins, yields the core, sleeps until another process rings. With a core
// for each process a short wait costs no system call; a sleeping process is woken in 5 to 40 us. A
// handler that throws while a call waits ends that call: the exception comes out of it.
class Bundle {
 public:
  // `process` outlives the bundle. An am::Job converts to one. Throws Error for Access::kParallel
  // in a handler, in a job that spans nodes.
  explicit Bundle(Process& process, Access access = Access::kSequential);
  // Its endpoints, channels and pollers have been destroyed before. Ends the job with a sentence if
  // a call of this bundle that polls or waits is running.
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  // Makes progress once (AM_Poll): delivers what has arrived, a bounded number of messages of each
  // sender (between nodes for a bounded time), runs the callbacks of channels and pollers, and
  // sends what the network had no room for. Never waits. Returns how many things it has handled.
  //
  // What a handler throws comes out; the other messages stay for the next poll, which begins at the
  // same place: an endless stream of throwing handlers holds up what is behind it. Throws Error in
  // a handler or callback. Costs 5 to 7 ns with nothing there, 130 to 300 between nodes.
  int poll(Here where = {}) {
    if (kChecked && handling()) refuse_poll({"Bundle::poll", where});
    return poll(false);
  }
  // A poll in a loop that spins: polls the network only now and then if nothing is expected from
  // it.
  int poll_spinning() { return poll(true); }

  // Sleeps until one of the events, at most `timeout_ns` nanoseconds; negative: no limit (AM_Wait).
  // Runs no handler: call poll() afterwards. Does not spin before it sleeps. Checks this bundle
  // only, and keeps what comes for others.
  //
  // Returns true if the event has come, false after the time. Throws Error for Events::kNone, which
  // would never return, and in a handler or callback.
  bool wait(Events events, std::int64_t timeout_ns = -1, Here where = {});

  // For event loops of the program (docs/progress.md#an-event-loop-of-the-program): a descriptor
  // that is readable when there is something to poll for, if arm() has said so. The bundle makes it
  // at the first call and closes it; it is for epoll and its like, as a level, not to be read.
  // Throws Error of a parallel bundle, and if the process may have no more descriptors.
  int event_fd(Here where = {});
  // The last call into the library before each sleep on event_fd() (UCX's ucp_worker_arm). Checks
  // what wait() checks, and never waits. False: something is there, so poll and ask again. True:
  // the descriptor becomes readable when something comes, though not for memory that others only
  // write (Wake::kMemory), and stays so until the next arm(). The next poll of this bundle disarms
  // it. Throws Error as event_fd(), and in a handler or callback. Costs some microseconds.
  bool arm(Here where = {});

  // Polls this bundle until `condition()` is true; returns at once, without polling, if it is. The
  // only loop of the library that waits. The condition is evaluated often, must be cheap, may not
  // wait, and is not evaluated again after it was true: it may be an attempt, such as a
  // try_request. Throws Error in a handler or callback, if it would have to poll. `where` is the
  // place of the call, which the report on a job that stands still names.
  template <class Condition>
  void wait_until(Condition&& condition, Wake wake = Wake::kRung, Here where = {}) {
    wait_until(condition, wake, [&where] { return Reason{.call = {"Bundle::wait_until", where}}; });
  }
  // Waits on behalf of another call: explain() returns the Reason that the report shows. It is
  // evaluated before sleeps only.
  template <class Condition, std::invocable Explain>
  void wait_until(Condition&& condition, Wake wake, const Explain& explain) {
    wait_for<false>(condition, wake, explain);
  }

  // Waits on behalf of another call, and polls all bundles of the calling thread.
  template <class Condition, std::invocable Explain>
  void wait_with_siblings(Condition&& condition, const Explain& explain, Wake wake = Wake::kRung) {
    wait_for<true>(condition, wake, explain);
  }

  // Waits until `released` for a transfer to another node, which uses memory of the caller until
  // then: what a handler throws comes out only after it. No more handlers run from the exception
  // until then; their messages stay for the next poll.
  void wait_until_released(const bool& released, const Reason& reason);

  // Endpoint::flush() of every endpoint in this bundle: waits until everything they have sent has
  // been handled, or has come back. Throws Error in a handler or callback.
  void flush(Here where = {}) { flush({"Bundle::flush", where}); }
  void flush(Call call);

  // Takes `endpoint` over from the bundle it is in (AM_MoveEndpoint), of which the caller has the
  // use as well. Its messages, credits and tables stay with it. Throws Error in a handler of either
  // bundle, and if it belongs to another job. Ends the job if a call of it is waiting.
  void adopt(Endpoint& endpoint, Here where = {});

  // By an endpoint that begins and ends: it is polled, and not any more. Ends the job with a
  // sentence if it is in use.
  void join(Endpoint& endpoint);
  void leave(Endpoint& endpoint);
  // Whether the calling thread delivers a message of it just now, in a parallel bundle.
  bool is_active(const Endpoint& endpoint) const noexcept {
    return monitor_ && thread().active == &endpoint;
  }

  // Makes `poller` part of poll(). It is the caller's, and lives until remove(). Both are allowed
  // in handlers and callbacks.
  void add(Poller& poller);
  // Makes a poller part of poll() that the bundle owns, until it ends.
  void keep(Owned<Poller> poller);
  void remove(Poller& poller) noexcept;

  Access access() const noexcept { return monitor_ ? Access::kParallel : Access::kSequential; }
  // The endpoints in this bundle, in the order they came; valid until one comes or goes, which in a
  // parallel bundle another thread may bring about.
  const std::vector<Endpoint*>& endpoints() const noexcept { return endpoints_; }
  Process& process() const noexcept { return process_; }
  // The routes to all processes of the job, and this process's segment.
  Router& router() const noexcept { return router_; }
  // Polls the other bundles of this process that belong to the calling thread; returns the sum. Not
  // in a handler.
  int poll_siblings();
  // Whether this bundle belongs to `thread`, as this_thread() names it. Any thread.
  bool belongs_to(const void* thread) const noexcept {
    return monitor_ || owner_.load(std::memory_order_relaxed) == thread;
  }
  // The bundle has no owner until a thread polls it. (The next thread may have this one's address.)
  void give_up() noexcept { owner_.store(nullptr, std::memory_order_relaxed); }
  // How many messages the endpoints in it have sent and received.
  std::uint64_t messages() const noexcept;
  static const void* this_thread() noexcept { return &thread(); }

  // What the calling thread is doing in this bundle. Others read that of the process only
  // (Router::activity()), which is this one for the thread that made the first bundle.
  Activity& activity() const noexcept {
    return activity_ != nullptr ? *activity_ : *thread().activity;
  }
  // Whether a handler or callback, of this or another bundle, runs in the calling thread: nothing
  // may wait then. Any thread, of itself.
  static bool handling() noexcept { return thread().handles; }
  // In a handler of this one, not in a callback. (Of a parallel bundle: in the calling thread.)
  bool in_handler() const noexcept {
    return inside_ >= Inside::kHandler && (inside_ == Inside::kHandler || thread_in_handler());
  }
  // A message with a payload is sent: the first poll of a wait comes later (am/sync/backoff.h).
  void note_payload() noexcept { sent_payload_.store(true, std::memory_order_relaxed); }
  // Throws Error of `what`, such as "channels", unless this bundle is sequential.
  void require_sequential(const char* what) const;

  // Router::refuse(): how calls of this room and those above refuse.
  [[noreturn]] void refuse(Call call, const std::string& what) const;
  // Whether some thread polls it or waits in it; not sure of a sequential one in another thread.
  bool busy() const noexcept;
  // Marks a call that waits and runs handlers: the end of the bundle meanwhile would end the job.
  class Waiting {
   public:
    explicit Waiting(Bundle& bundle) noexcept;
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Bundle& bundle_;
  };

  // Locks a parallel bundle while it lives, and the reverse. Of a sequential one they do nothing.
  struct Lock : std::unique_lock<Monitor> {
    explicit Lock(const Bundle& bundle) noexcept {
      if (bundle.monitor_) static_cast<unique_lock&>(*this) = unique_lock(*bundle.monitor_);
    }
  };
  struct Unlock {
    explicit Unlock(const Bundle& bundle) noexcept : monitor(bundle.monitor_.get()) {
      if (monitor != nullptr) monitor->unlock();
    }
    ~Unlock() {
      if (monitor != nullptr) monitor->lock();
    }
    Unlock(const Unlock&) = delete;
    Unlock& operator=(const Unlock&) = delete;
    Monitor* const monitor;  // nullptr: the bundle is sequential
  };

 private:
  friend class EndpointLock;
  friend class FarMessages;
  friend class Process;
  friend struct OneThread;

  // Which part of poll() is running, if any; kArmed: none since arm(). kThreads: the bundle is
  // parallel, and each thread knows for itself (Thread::inside).
  enum class Inside : std::uint8_t { kNothing, kArmed, kPoller, kHandler, kThreads };

  // One per thread.
  struct Thread {
    bool handles;
    // The rest is of the parallel bundle that it polls.
    Inside inside;
    const Bundle* bundle;
    const Endpoint* active;  // whose messages it delivers, if it does
    Activity* activity;      // what it is doing, for others to read where they can
  };
  static Thread& thread() noexcept {
    static constinit thread_local Thread own{};
    return own;
  }

  // One attempt to sleep. Loads after its construction see what neighbours have written before, and
  // a neighbour that writes later rings the doorbell; but see shmem/doorbell.h.
  class Nap {
   public:
    explicit Nap(Bundle& bundle) noexcept;
    void sleep(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept;
    std::uint32_t ticket() const noexcept { return ticket_; }

   private:
    Router& router_;
    std::uint32_t ticket_;
  };

  // The only loop that waits (am/core/wait.h). kSiblings: it polls all bundles of the calling
  // thread.
  template <bool kSiblings, class Condition, class Explain, class Sleep>
  void wait_loop(Condition& condition, const Explain& explain, Activity& activity, WaitTime& time,
                 const Sleep& sleep);
  template <bool kSiblings, class Condition, class Explain>
  void wait_for(Condition& condition, Wake wake, const Explain& explain);

  bool take_sent_payload() noexcept {  // whether one has left since the last call
    constexpr auto kRelaxed = std::memory_order_relaxed;  // only a hint
    return sent_payload_.load(kRelaxed) && sent_payload_.exchange(false, kRelaxed);
  }

  // The wait of a thread of several; not a template, as it is not for the fastest.
  void wait_among_threads(bool siblings, FunctionRef<bool()> condition, Wake wake,
                          FunctionRef<Reason()> explain, WaitTime& time);
  // A thread that checks whether it may sleep, and sleeps until another makes progress. A
  // sequential bundle has no other.
  class Sleeper;
  // How it sleeps; true: the condition is.
  bool sleep_unless(FunctionRef<bool()> condition, bool siblings, shmem::SleepLimit& limit,
                    Wake wake);

  // Whether something lies ready, read from the network already, for a bundle of the calling thread
  // that has not polled since, this one included. No thread sleeps then, as nothing would wake it.
  bool siblings_late() noexcept;
  bool is_late() noexcept;  // ... for this bundle
  // With `spinning` the network is polled only now and then if nothing is expected from it.
  int poll(bool spinning);
  int poll_all(bool spinning);  // the same, without the guards
  int poll_armed(bool spinning);
  void disarm() noexcept;  // if it is armed
  void signal_late_siblings() noexcept;
  // Polls a bundle that is parallel, or armed; Error if this thread is in a poll already.
  [[gnu::cold]] int poll_unusual(bool spinning);
  // Every exception of a handler or callback leaves poll() by way of this; active_, or the
  // thread's, is the endpoint whose it is.
  [[gnu::cold]] void note_thrower();
  int poll_endpoints();  // of a parallel bundle, locked
  int poll_pollers();    // likewise
  void leave_poll(Thread& self, bool handled) noexcept;
  bool thread_in_handler() const noexcept;
  void begin_activity() const;  // of this thread, in a parallel bundle
  // Whether poll() may find something; and whether channels and pollers have something to do, as
  // far as is known without polling the network. Of a parallel bundle: locked.
  bool has_message_locked() noexcept;
  bool pollers_have_work_locked() noexcept;
  void begin_parallel();
  void adopt_among_threads(Endpoint& endpoint, Call call);
  void move_here(Endpoint& endpoint, Bundle& from);
  // Error of `call`, which polls or waits, where nothing may.
  [[noreturn]] void refuse_poll(Call call) const;
  int poll_others();  // the pollers
  bool has_message() noexcept;
  void sleep_unless_message(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept;
  void change_owner(const void* thread);  // to one that polls this for the first time
  void spoil() noexcept;                  // in a child that was forked (am/types/forked.h)
  // change_owner() to the calling thread before it waits, which shows that in the owner's Activity.
  void take_over() {
    if (!belongs_to(this_thread()) && !handling()) change_owner(this_thread());
  }
  // Publishes what this process is about to sleep for, where others can read it.
  void show(ShownWait& wait, const Reason& reason);

  // Constant after construction.
  Process& process_;
  Router& router_;
  FarMessages* const far_;        // nullptr: no processes on other nodes
  const Backoff backoff_;         // at its foot
  const Owned<Monitor> monitor_;  // nullptr: the bundle is sequential
  const void* const maker_;       // the thread that has made it
  // Owned by the bundle's thread, or guarded by monitor_.
  Owned<Activity> own_activity_;      // not read by others; nullptr: uses the process's
  Activity* activity_ = nullptr;      // of the process, or the own one; or each thread's
  std::vector<Endpoint*> endpoints_;  // in the order they are polled
  std::vector<Poller*> pollers_;      // likewise, after the endpoints
  std::vector<Owned<Poller>> kept_;   // some of these
  Owned<EventDescriptor> event_;      // nullptr: not requested yet
  Inside inside_ = Inside::kNothing;
  const Endpoint* active_ = nullptr;  // whose messages poll() is delivering, if it is
  int waiting_ = 0;                   // calls that wait and run handlers
  // Only of a parallel bundle.
  int sleepers_ = 0;          // threads that sleep, or are about to
  bool lent_ = false;         // the process's activity shows what maker_ does
  bool in_pollers_ = false;   // some thread polls them
  bool left_out_ = false;     // a far message, as another thread is at its sender's last one
  std::atomic<int> pins_{0};  // other bundles' calls that poll it; see Process
  // Written by the polling thread, read by any thread; it publishes no other memory.
  std::atomic<const void*> owner_{nullptr};
  std::atomic<bool> sent_payload_{false};  // a hint, written by senders
};

}  // namespace am

#include "am/core/wait.h"
