// By which the launcher notifies the processes of a job that goes on without its dead (splitcrun
// --survive): which they are. The launcher is their parent and has reaped them, so no zombie and no
// process that has got the pid of another is taken for one of the job.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "am/job/config/control.h"
#include "am/types/types.h"

namespace am {

// Any thread of any process of the job; wait() sleeps.
class DeathNotices {
 public:
  explicit DeathNotices(Control& control) noexcept : control_(control) {}

  // By the launcher: `rank` has died. Whoever waits in wait(), or in the launcher's barrier, wakes.
  // Once for each.
  void post(Rank rank) noexcept;
  // Whether the job can go on without a process: nobody is at the start of one, which needs all.
  bool can_go_on() const noexcept;
  // By a process of rank `rank`: all have passed the start.
  void start(Rank rank) noexcept;

  // How many have died. What was posted before is seen by is_dead().
  // pairs with: post()
  std::uint32_t count() const noexcept { return control_.deaths.load(std::memory_order_acquire); }
  bool is_dead(Rank rank) const noexcept;
  // Whether it has passed its last collective call (Job::finish()).
  bool has_finished(Rank rank) const noexcept;
  // Whether all who live have passed the last collective call (Job::finish()) that `rank` has
  // passed.
  bool nobody_needs(Rank rank) const noexcept;
  pid_t pid(Rank rank) const noexcept;
  std::uint32_t size() const noexcept { return control_.size; }

  // Sleeps while count() is `seen`; may return early, and does when somebody calls wake().
  void wait(std::uint32_t seen) const noexcept;
  void wake() noexcept;

 private:
  Control& control_;
};

}  // namespace am
