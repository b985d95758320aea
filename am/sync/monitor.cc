#include "am/sync/monitor.h"

#include <sched.h>
#include <time.h>

namespace am {
namespace {

constexpr int kSpinsForLock = 100;
constexpr int kYieldsForLock = 200;
constexpr long kSleepNs = 50'000;

}  // namespace

void Monitor::let_others_run() noexcept { sched_yield(); }

void Monitor::wait() noexcept {
  for (int looks = 0;; ++looks) {
    // No partner: try_lock() decides.
    if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
    if (looks < kSpinsForLock) {
      Backoff::pause();
    } else if (looks < kSpinsForLock + kYieldsForLock) {
      sched_yield();
    } else {
      const timespec moment{.tv_sec = 0, .tv_nsec = kSleepNs};
      nanosleep(&moment, nullptr);
    }
  }
}

}  // namespace am
