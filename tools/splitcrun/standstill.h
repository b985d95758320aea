// What splitcrun says of a job that stands still, and when it ends one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "am/job/config/control.h"
#include "am/job/stall/watch.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/options.h"

namespace am::launcher {

// What one process does now.
ProcessView view_of(Rank rank, bool is_stopped, Control& control, const Children& children);

class Standstill {
 public:
  using Clock = StallWatch::Clock;

  Standstill(const Options& options, Control& control, const Children& children);

  // When to observe the processes again; none: neither a report nor a timeout was asked for.
  std::optional<Clock::time_point> deadline() const;

  struct News {
    std::vector<std::string> sentences;    // to be said
    bool is_over;                          // --stall-timeout has passed
    std::optional<std::string> why_never;  // it can never end
  };
  // `is_stopped` by rank.
  News look(Clock::time_point now, const std::vector<bool>& is_stopped);

  // What all processes do now; "" if none of them has started the library.
  std::string describe(Clock::time_point now, const std::vector<bool>& is_stopped);

 private:
  void observe(Clock::time_point now, const std::vector<bool>& is_stopped);

  const Options& options_;
  Control& control_;
  const Children& children_;
  const Clock::duration timeout_;  // 0: none
  const Clock::duration interval_;
  StallWatch watch_;
  StallSchedule schedule_;
  Clock::time_point next_;
  bool joined_ = false;  // some process has
};

}  // namespace am::launcher
