#pragma once

#include <sched.h>

#include <atomic>
#include <string>
#include <thread>

#include "am/job/config/control.h"
#include "am/route/router.h"
#include "am/types/thread.h"

namespace am {

// A thread that sleeps until the launcher says that a process of the job has died, and then notes
// it at the router. Only in a job that goes on without its dead.
class DeathWatch {
 public:
  // Both outlive it.
  DeathWatch(DeathNotices& notices, Router& router) : notices_(notices), router_(router) {
    thread_ = start_thread("rank " + std::to_string(router.rank()) + ": Job: ",
                           "that hears of deaths (SPLITC_SURVIVE=1)", [this] { watch(); });
  }
  // No other memory is published by the two flags: the thread is joined.
  ~DeathWatch() {
    stops_.store(true, std::memory_order_relaxed);
    while (!has_stopped_.load(std::memory_order_relaxed)) {  // it may be about to sleep
      notices_.wake();
      sched_yield();
    }
    thread_.join();
  }

 private:
  void watch() noexcept {
    std::uint32_t known = 0;
    while (!stops_.load(std::memory_order_relaxed)) {
      const std::uint32_t count = notices_.count();
      if (count == known) {
        notices_.wait(count);
        continue;
      }
      known = count;
      for (Rank rank = 0; rank < notices_.size(); ++rank) {
        if (notices_.is_dead(rank)) router_.note_death(rank, notices_.pid(rank));
      }
    }
    has_stopped_.store(true, std::memory_order_relaxed);
  }

  DeathNotices& notices_;
  Router& router_;
  std::atomic<bool> stops_{false};
  std::atomic<bool> has_stopped_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace am
