// Reports a job that stands still where no launcher of ours watches it (mpirun, srun, rendezvous, a
// program started bare): each node for itself, by the first of its processes that waits and still
// observes the others. One that runs a handler, or blocks outside the library, does not.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "am/job/stall/watch.h"
#include "am/route/router.h"

namespace am {

// One at a time in a process.
class StallReporter {
 public:
  // Reports after `limit_s` without progress, 0: only when asked by SIGUSR1.
  explicit StallReporter(double limit_s);
  StallReporter(const StallReporter&) = delete;
  StallReporter& operator=(const StallReporter&) = delete;

  // By a thread that waits, now and then.
  void look(const Router& router);

 private:
  using Clock = StallWatch::Clock;

  void note_looks(Clock::time_point now, const std::vector<ProcessView>& processes);
  bool speaks(Clock::time_point now, const Router& router,
              const std::vector<ProcessView>& processes) const;
  void say(const Router& router, const std::string& sentence) const;

  std::mutex looking_;  // guards the rest
  StallWatch watch_;
  StallSchedule schedule_;
  const Clock::duration interval_;
  Clock::time_point next_{};
  struct Watcher {
    std::uint32_t looks = 0;
    Clock::time_point changed{};
  };
  std::vector<Watcher> watchers_;  // as processes_of_node()
};

// SIGUSR1 asks a job what it does. It ends no process of one.

// From now on SIGUSR1 is only noted, unless the program has a handler of its own, or ignores it. It
// stays so after the job: the signal may be sent to all processes while some have left theirs.
void note_stall_questions();

// Whether one came since the last call. Any thread.
bool take_stall_question() noexcept;

}  // namespace am
