#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "am/router.h"
#include "am/wait.h"

namespace am {

struct ChannelStats;
struct Channels;
class Endpoint;
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
// inside poll(), wait_until() and requests that wait for credit, never inside one another.
class Bundle {
 public:
  // `router` outlives the bundle. An am::Job is one.
  explicit Bundle(Router& router);
  ~Bundle();  // its endpoints and channels must be gone
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  // Handles what has come, a bounded number of messages of each sender; returns how many.
  // What a handler throws comes out here. Throws Error when called by a handler.
  int poll() { return poll(false); }

  // Sleeps until one of the events, at most `timeout_ns` (negative: no limit). Runs no handler.
  // Returns true if the event came, false after the time. Throws Error for Events::kNone, which
  // would never return, and when called by a handler.
  bool wait(Events events, std::int64_t timeout_ns = -1);

  // Polls until `condition()` is true, first spinning, then yielding, then sleeping. This is the
  // only loop of the library that waits. The condition is evaluated often, must be cheap, and is
  // not evaluated again after it was true: it may be an attempt.
  template <class Condition>
  void wait_until(Condition&& condition, Wake wake = Wake::kRung) {
    if (condition()) return;
    Ladder ladder = ladder_;
    bool spinning = true;
    Ladder::leave_line();
    for (;;) {
      const int count = poll(spinning);
      if (count != 0) ladder.reset();
      if (condition()) return;
      if (count == 1) Ladder::leave_line();
      const Ladder::Step step = ladder.next();
      spinning = step == Ladder::Step::kSpin;
      switch (step) {
        case Ladder::Step::kSpin: Ladder::pause(); break;
        case Ladder::Step::kYield: sched_yield(); break;
        case Ladder::Step::kBlock: {
          Nap nap(*this, wake);
          const bool message = has_message();  // nap's fence has made this and the next look fresh
          if (condition()) return;
          if (!message) nap.sleep();
        }
      }
    }
  }

  // Takes `endpoint` over from the bundle it is in (AM_MoveEndpoint).
  void adopt(Endpoint& endpoint);

  // Makes `poller` part of poll(), from the next one on; it lives until removed. Not by a handler.
  void add(Poller& poller);
  void remove(Poller& poller) noexcept;

  // The channels of this process (am/channel.h), which are all in one bundle. Throws Error if that
  // is another one.
  Channels& channels();
  ChannelStats channel_stats() const;

  const std::vector<Endpoint*>& endpoints() const noexcept { return endpoints_; }
  Router& router() const noexcept { return router_; }
  // Inside poll(): nothing may wait.
  bool handling() const noexcept { return inside_ != Inside::kNothing; }
  bool in_handler() const noexcept { return inside_ == Inside::kHandler; }

  // "rank R: " + call + ": " + what, thrown as Error.
  [[noreturn]] void refuse(const std::string& call, const std::string& what) const;

 private:
  friend class Endpoint;

  // What of poll() is running, if it is.
  enum class Inside : std::uint8_t { kNothing, kHandler, kPoller };

  // One attempt to sleep. What the neighbours have written is fresh once it is constructed, and who
  // writes later rings.
  class Nap {
   public:
    Nap(Bundle& bundle, Wake wake) noexcept;
    void sleep() noexcept;
    void sleep(std::int64_t timeout_ns) noexcept;

   private:
    Router& router_;
    std::uint32_t ticket_;
    Wake wake_;
  };

  // With `spinning` the network is looked at only now and then if nothing is expected from it.
  int poll(bool spinning);
  int poll_others();
  // Whether poll() may find something.
  bool has_message() noexcept;
  void leave(Endpoint& endpoint);

  // Constant after construction.
  Router& router_;
  const Ladder ladder_;  // at its foot
  // Owned by the bundle's thread.
  std::vector<Endpoint*> endpoints_;
  std::vector<Poller*> pollers_;
  std::unique_ptr<Channels> channels_;  // made at the first use
  Inside inside_ = Inside::kNothing;
};

}  // namespace am
