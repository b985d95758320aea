#include "am/job/death_watch.h"

#include <sched.h>

#include <string>

#include "am/job/config/control.h"
#include "am/route/router.h"
#include "am/types/thread.h"

namespace am {

DeathWatch::DeathWatch(DeathNotices& notices, Router& router) : notices_(notices), router_(router) {
  thread_ = start_thread("rank " + std::to_string(router.rank()) + ": Job: ",
                         "that hears of deaths (SPLITC_SURVIVE=1)", [this] { watch(); });
}

// No other memory is published by the two flags: the thread is joined.
DeathWatch::~DeathWatch() {
  stops_.store(true, std::memory_order_relaxed);
  while (!has_stopped_.load(std::memory_order_relaxed)) {  // it may be about to sleep
    notices_.wake();
    sched_yield();
  }
  thread_.join();
}

void DeathWatch::watch() noexcept {
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

}  // namespace am
