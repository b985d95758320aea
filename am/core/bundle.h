// am/core: endpoints and the bundles they are polled in. Sending, dispatch, replies, what comes
// back, and the only loop that waits. It uses am/message, am/one_sided, am/route and shmem; what else a
// poll brings on (channels, zero-copy buffers) is added as a Poller. Handlers run inside poll() and
// nowhere else, never one inside another; a request has reserved the room for its reply.
#pragma once

#include <sched.h>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "am/core/process.h"
#include "am/core/wait.h"
#include "am/route/activity.h"
#include "am/route/router.h"
#include "am/types/source_location.h"
#include "shmem/doorbell.h"

namespace am {

class Endpoint;
class FarMessages;
class Poller;

// What Bundle::wait() waits for (AM-II's event mask).
enum class Events : std::uint8_t {
  kNone,      // AM_NOEVENTS
  kNotEmpty,  // AM_NOTEMPTY: some endpoint has a message; true at once if one is there already
};

// Who makes the condition of wait_until() true.
enum class Wake : std::uint8_t {
  kRung,    // a handler, or another process that rings afterwards: sleep until then
  kMemory,  // memory that another process writes without ringing: look again every millisecond
};

// Endpoints that are polled and waited for together: the unit of progress (AM-II eb_t, AM_SEQ).
//
// One thread at a time may be inside a bundle and its endpoints. Handlers run in that thread,
// inside poll(), wait_until() and requests that wait for credit, never inside one another: they may
// not poll or wait in any bundle.
//
// A bundle belongs to the thread that made it, until another thread has polled it; then to that
// one. A request that waits for credit polls all bundles of the calling thread: the process that is
// to give it may wait for one of them. So let a bundle that goes to another thread be made there,
// or be polled there once before this thread sends requests.
class Bundle {
 public:
  // `process` outlives the bundle. An am::Job is one.
  explicit Bundle(Process& process);
  ~Bundle();  // its endpoints and channels must be gone, and no call of it may be running: fatal
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  // Handles what has come, a bounded number of messages of each sender; returns how many.
  // What a handler throws comes out here. Throws Error when called by a handler or callback.
  int poll() { return poll(false); }

  // Sleeps until one of the events, at most `timeout_ns` (negative: no limit). Runs no handler.
  // Returns true if the event came, false after the time. Throws Error for Events::kNone, which
  // would never return, and when called by a handler.
  bool wait(Events events, std::int64_t timeout_ns = -1,
            SourceLocation where = SourceLocation::current());

  // Polls until `condition()` is true, first spinning, then yielding, then sleeping. This is the
  // only loop of the library that waits. The condition is evaluated often, must be cheap, and is
  // not evaluated again after it was true: it may be an attempt. `where` is named by the report on
  // a job that stands still.
  template <class Condition>
  void wait_until(Condition&& condition, Wake wake = Wake::kRung,
                  SourceLocation where = SourceLocation::current()) {
    wait_until(condition, wake, [&where] { return Reason{"Bundle::wait_until", where}; });
  }
  // The same for a call of the library: explain() -> Reason is evaluated before sleeps.
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

  // Endpoint::flush() of every endpoint in this bundle.
  void flush(SourceLocation where = SourceLocation::current()) { flush("Bundle::flush", where); }
  void flush(const char* call, const SourceLocation& where);

  // Takes `endpoint` over from the bundle it is in (AM_MoveEndpoint).
  void adopt(Endpoint& endpoint);

  // Makes `poller` part of poll(); it lives until removed. Both also inside handlers and callbacks.
  void add(Poller& poller);
  // The same for one that lives as long as the bundle.
  void keep(std::unique_ptr<Poller> poller);
  void remove(Poller& poller) noexcept;

  const std::vector<Endpoint*>& endpoints() const noexcept { return endpoints_; }
  Process& process() const noexcept { return process_; }
  Router& router() const noexcept { return router_; }
  // Polls the other bundles of this process that belong to the calling thread. Not by a handler.
  int poll_siblings();
  // The thread that this bundle belongs to, as this_thread() names it. Any thread.
  const void* owner() const noexcept { return owner_.load(std::memory_order_relaxed); }
  static const void* this_thread() noexcept { return &thread(); }

  // What this bundle does, as others may see it.
  Activity& activity() const noexcept { return *activity_; }
  // Whether a handler or callback, of this or another bundle, runs in the calling thread: nothing
  // may wait.
  static bool handling() noexcept { return thread().handles; }
  // Inside poll() of this one; and not in a callback.
  bool polling() const noexcept { return inside_ != Inside::kNothing; }
  bool in_handler() const noexcept { return inside_ == Inside::kHandler; }

  // "rank R: " + call + ": " + what, thrown as Error.
  [[noreturn]] void refuse(const std::string& call, const std::string& what) const;

  // A call that waits and runs handlers: while it lives, the bundle may not end, which is fatal.
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

  // What a thread knows of itself.
  struct Thread {
    bool handles;
  };
  static Thread& thread() noexcept {
    static thread_local Thread own{};
    return own;
  }

  // What of poll() is running, if it is.
  enum class Inside : std::uint8_t { kNothing, kHandler, kPoller };

  // One attempt to sleep. What the neighbours have written is fresh once it is constructed, and who
  // writes later rings; but see shmem/fence.h.
  class Nap {
   public:
    explicit Nap(Bundle& bundle) noexcept;
    void sleep(shmem::SleepLimit& limit, std::int64_t at_most_ns) noexcept;

   private:
    Router& router_;
    std::uint32_t ticket_;
  };

  // The only loop that waits. kSiblings: it polls all bundles of the calling thread.
  template <bool kSiblings, class Condition, class Explain>
  void wait_for(Condition& condition, Wake wake, const Explain& explain) {
    if (condition()) return;
    const Waiting waiting(*this);
    ShownWait shown(*activity_);
    Ladder ladder = ladder_;
    shmem::SleepLimit limit;
    bool spinning = true;
    Ladder::leave_line();
    for (;;) {
      int count = poll(spinning);
      if constexpr (kSiblings) count += poll_siblings();
      if (count != 0) {
        ladder.reset();
        shown.progressed();
      }
      if (condition()) return;
      if (count == 1) Ladder::leave_line();
      const Ladder::Step step = ladder.next();
      spinning = step == Ladder::Step::kSpin;
      switch (step) {
        case Ladder::Step::kSpin: Ladder::pause(); break;
        case Ladder::Step::kYield: sched_yield(); break;
        case Ladder::Step::kShow:
          show(shown, explain());
          ladder.reset();
          break;
        case Ladder::Step::kBlock: {
          show(shown, explain());
          Nap nap(*this);
          // nap's fence has made these looks fresh. Siblings are polled, not asked: their work may
          // be what makes the condition true.
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
  // With `spinning` the network is looked at only now and then if nothing is expected from it.
  int poll(bool spinning);
  int poll_all(bool spinning);
  [[noreturn]] void refuse_poll() const;
  int poll_others();
  // Whether poll() may find something.
  bool has_message() noexcept;
  // The same of channels and pollers, as far as is known without a look at the network.
  bool others_have_work() const noexcept;
  // Another thread polls than before.
  void change_owner(const void* thread);
  // The handlers of a poll have returned, or have been left by an exception.
  void leave_handlers() noexcept {
    active_ = nullptr;
    activity_->leave_handler();
  }
  void leave(Endpoint& endpoint);
  // Shows others what this process is about to sleep for. It has perhaps waited for long already.
  void show(ShownWait& wait, const Reason& reason);

  // Constant after construction.
  Process& process_;
  Router& router_;
  FarMessages* const far_;  // nullptr: no processes on other nodes
  const Ladder ladder_;     // at its foot
  // Owned by the bundle's thread.
  std::unique_ptr<Activity> own_activity_;  // nobody reads it; nullptr: uses the process's
  Activity* activity_ = nullptr;            // of the process, or the own one
  std::vector<Endpoint*> endpoints_;
  std::vector<Poller*> pollers_;
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
