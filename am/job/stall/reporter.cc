#include "am/job/stall/reporter.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "am/job/stall/watch.h"
#include "am/route/process_stat.h"

namespace am {

namespace {

constexpr auto kSilence = 10 * StallWatch::kInterval;  // of a process that looks no more

// By /proc, of a process of this user.
ProcessView::Life life_of(pid_t pid) {
  if (pid == 0) return ProcessView::Life::kAlive;
  const auto stat = read_process_stat(pid);
  if (!stat) return ProcessView::Life::kEnded;
  switch (stat->state) {
    case 'T':
    case 't':  // by a debugger
      return ProcessView::Life::kStopped;
    case 'Z':
    case 'X': return ProcessView::Life::kEnded;
    default: return ProcessView::Life::kAlive;
  }
}

std::vector<ProcessView> processes_of_node(const Router& router) {
  std::vector<ProcessView> processes;
  for (const Rank rank : router.near_ranks()) {
    const auto activity = router.peer(rank).header->activity.read();
    processes.push_back({rank, life_of(activity.pid), activity});
  }
  return processes;
}

std::atomic<bool> asked{false};  // nothing else is published by it
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int) { asked.store(true, std::memory_order_relaxed); }

// Whether one came since the last call.
bool take_stall_question() noexcept {
  return asked.load(std::memory_order_relaxed) && asked.exchange(false, std::memory_order_relaxed);
}

class StallReporter {
 public:
  explicit StallReporter(double limit_s)
      : schedule_(duration_of(limit_s)), interval_(observation_interval({limit_s})) {}

  void look(const Router& router) {
    const std::unique_lock<std::mutex> lock(looking_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // another thread waits, too
    const auto now = Clock::now();
    const bool question = take_stall_question();
    if (now < next_ && !question) return;
    next_ = now + interval_;
    router.activity().count_look();
    std::vector<ProcessView> processes = processes_of_node(router);
    note_looks(now, processes);
    const bool speaks_now = speaks(now, router, processes);
    watch_.observe(now, std::move(processes));
    if (!speaks_now) return;
    if (question) say(router, "now: " + watch_.describe());
    if (const auto why = watch_.find_waiting_for_finished()) router.fatal("it cannot end: " + *why);
    if (schedule_.due(watch_.longest_stall())) say(router, watch_.sentence());
  }

 private:
  using Clock = StallWatch::Clock;

  void note_looks(Clock::time_point now, const std::vector<ProcessView>& processes) {
    watchers_.resize(processes.size());
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const std::uint32_t looks = processes[i].activity.looks;
      if (looks != watchers_[i].looks) watchers_[i] = {looks, now};
    }
  }

  // Of those that wait the first does; not one that would say nothing, as it is stopped, or has not
  // looked for long. Who looks and is not shown to wait, since another thread of it computes, does
  // if there is no other.
  bool speaks(Clock::time_point now, const Router& router,
              const std::vector<ProcessView>& processes) const {
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const ProcessView& process = processes[i];
      if (process.life == ProcessView::Life::kAlive &&
          process.activity.state == Activity::State::kWaiting && process.activity.looks != 0 &&
          now - watchers_[i].changed < kSilence) {
        return process.rank == router.rank();
      }
    }
    return true;
  }

  void say(const Router& router, const std::string& sentence) const {
    const bool several = router.far_peers();
    const std::string who = "rank " + std::to_string(router.rank()) +
                            (several ? " for its node" : "") + ": " + sentence + "\n";
    std::fputs(who.c_str(), stderr);
  }

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

}  // namespace

Function<void(const Router& router)> make_stall_reporter(double limit_s) {
  return [reporter = std::make_shared<StallReporter>(limit_s)](const Router& router) {
    reporter->look(router);
  };
}

void note_stall_questions() {
  struct sigaction before {};
  sigaction(SIGUSR1, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = &note;
  action.sa_flags =
      SA_RESTART;  // the program's own calls go on; who sleeps here wakes all the same
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
}

}  // namespace am
