// Detects that a job makes no progress, and reports why: which processes wait in which call of the
// program, for what, and what the others do meanwhile.
//
//   3 processes in barrier at a.cc:40 for 31 s (ranks 0-1, 3); rank 2 in store_sync at b.cc:17,
//   64 bytes of 128 missing, for 31 s
//
// It only reads what the processes show (am/observe/activity.h). Whoever has a StallWatch lets it
// observe them about every second; times count from the first observation.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "am/observe/activity.h"
#include "am/types/types.h"

namespace am {

// One process at one moment.
struct ProcessView {
  enum class Life : std::uint8_t { kAlive, kStopped, kEnded };

  Rank rank;
  Life life;
  Activity::Snapshot activity;
};

// "in barrier at a.cc:40", "finished", ... `polls`: it has polled since the observation before.
std::string describe_process(const ProcessView& process, bool polls);

// "barrier at a.cc:40".
std::string describe_call(const ProcessView& process);

// "rank 2", or "3 processes"; and "ranks 0-1, 3".
std::string count_text(const std::vector<Rank>& ranks);
std::string ranks_text(const std::vector<Rank>& ranks);

class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kInterval = std::chrono::seconds(1);  // between observations, at most

  void observe(Clock::time_point now, std::vector<ProcessView> processes);

  // How long the process has stood still that has done so for longest: it waits, or its handler
  // runs, and nothing came of it. 0: all go on, compute or have ended. While a long access of some
  // process advances, the others are taken to wait for it.
  Clock::duration longest_stall() const;

  // What all processes do, as above.
  std::string describe() const;
  // The report: since when nothing goes on, and describe().
  std::string sentence() const;

  // "rank 1 in barrier at a.cc:40 waits for rank 0, which has finished, ..": when that has been so
  // for two observations, and so for ever.
  std::optional<std::string> find_waiting_for_finished() const;

 private:
  struct Process {
    ProcessView view;
    Clock::time_point since;  // nothing has changed
    bool polls;               // since the observation before
  };

  static bool stands_still(const Process& process);
  static bool is_same(const ProcessView& a, const ProcessView& b);

  Clock::time_point now_{};
  Clock::time_point advanced_at_ = Clock::time_point::min();  // some long access has
  std::vector<Process> processes_;
};

// When to report: after `limit` without progress, and again after doubled times.
class StallSchedule {
 public:
  using Duration = StallWatch::Clock::duration;

  explicit StallSchedule(Duration limit) : limit_(limit), next_(limit) {}  // 0: never
  // Whether to report now that `stall` has passed without progress.
  bool due(Duration stall);

 private:
  const Duration limit_;
  Duration next_;
};

StallWatch::Clock::duration duration_of(double seconds);

// How often to observe, so that limits of so many seconds (0: none) are kept about right.
StallWatch::Clock::duration observation_interval(std::initializer_list<double> limits_s);

// "31 s"; tenths below ten seconds.
std::string seconds_text(StallWatch::Clock::duration time);

}  // namespace am
