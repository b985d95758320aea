#pragma once

// The only loop that waits; included by am/core/bundle.h.

#include <sched.h>

#include "am/core/bundle.h"
#include "am/observe/observed_wait.h"
#include "am/observe/trace.h"

namespace am {

// Progress of any kind restarts the backoff. sleep(shown) sleeps unless there is something to do,
// and returns whether the condition is true.
template <bool kSiblings, class Condition, class Explain, class Sleep>
[[gnu::always_inline]] inline void Bundle::wait_loop(Condition& condition, const Explain& explain,
                                                     Activity& activity, WaitTime& time,
                                                     const Sleep& sleep) {
  ShownWait shown(activity);
  Backoff backoff = backoff_;
  bool spinning = true;
  backoff.leave_line(take_sent_payload());
  for (;;) {
    int count = poll(spinning);
    if constexpr (kSiblings) count += poll_siblings();
    if (count != 0) {
      backoff.reset();
      shown.progressed();
    }
    if (condition()) return;
    time.looked();
    if (count == 1) backoff.leave_line(take_sent_payload());
    const Backoff::Step step = backoff.next();
    spinning = step == Backoff::Step::kSpin;
    switch (step) {
      case Backoff::Step::kSpin: Backoff::pause(); break;
      case Backoff::Step::kYield:
        time.yields();
        sched_yield();
        break;
      case Backoff::Step::kShow:
        show(shown, explain());
        backoff.reset();
        break;
      case Backoff::Step::kBlock:
        time.yields();
        show(shown, explain());
        if (sleep(shown)) return;
    }
  }
}

// Before the loop sleeps it registers as asleep (Nap), and then checks once more: a neighbour that
// writes after that check finds it registered, and rings.
template <bool kSiblings, class Condition, class Explain>
void Bundle::wait_for(Condition& condition, Wake wake, const Explain& explain) {
  if (condition()) return;
  if (handling()) [[unlikely]]
    refuse_poll(explain().call);
  ObservedWait observed(explain);
  if (monitor_) [[unlikely]]
    return wait_among_threads(kSiblings, condition, wake, explain, observed);
  take_over();
  ++waiting_;
  const Finally waited([this] { --waiting_; });
  shmem::SleepLimit limit;
  wait_loop<kSiblings>(condition, explain, *activity_, observed, [&](ShownWait& shown) {
    Nap nap(*this);
    // nap's fence orders these checks after the announcement of the sleep. Siblings are polled,
    // not asked: their work may be what makes the condition true.
    bool found = kSiblings && poll_siblings() != 0;
    if (found) shown.progressed();
    found = has_message() || found || (kSiblings && siblings_late());
    if (condition()) return true;
    if (!found) nap.sleep(limit, wake == Wake::kMemory ? limit.kShortestNs : limit.kLongestNs);
    return false;
  });
}

}  // namespace am
