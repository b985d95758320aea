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
inline ProcessView view_of(Rank rank, bool is_stopped, Control& control, const Children& children) {
  using Life = ProcessView::Life;
  const Life life = !children.is_running(rank) ? Life::kEnded
                    : is_stopped               ? Life::kStopped
                                               : Life::kAlive;
  return {rank, life, control_rank(control, rank).activity.read()};
}

class Standstill {
 public:
  using Clock = StallWatch::Clock;

  Standstill(const Options& options, Control& control, const Children& children)
      : options_(options),
        control_(control),
        children_(children),
        timeout_(duration_of(options.stall_timeout_s.value_or(0))),
        interval_(
            observation_interval({options.stall_report_s, options.stall_timeout_s.value_or(0)})),
        schedule_(duration_of(options.stall_report_s)),
        next_(Clock::now() + interval_) {}

  // When to observe the processes again; none: neither a report nor a timeout was asked for.
  std::optional<Clock::time_point> deadline() const {
    if (options_.stall_report_s == 0 && !options_.stall_timeout_s) return std::nullopt;
    return next_;
  }

  struct News {
    std::vector<std::string> sentences;    // to be said
    bool is_over;                          // --stall-timeout has passed
    std::optional<std::string> why_never;  // it can never end
  };
  // `is_stopped` by rank.
  News look(Clock::time_point now, const std::vector<bool>& is_stopped) {
    News news{{}, false, {}};
    if (!deadline() || now < next_) return news;
    next_ = now + interval_;
    observe(now, is_stopped);
    const auto stall = watch_.longest_stall();
    news.is_over = timeout_ != Clock::duration::zero() && stall >= timeout_;
    news.why_never = watch_.find_waiting_for_finished();
    if (news.is_over || schedule_.due(stall)) {
      news.sentences.push_back(watch_.sentence());
    }
    return news;
  }

  // What all processes do now; "" if none of them has started the library.
  std::string describe(Clock::time_point now, const std::vector<bool>& is_stopped) {
    observe(now, is_stopped);
    return joined_ ? watch_.describe() : "";
  }

 private:
  void observe(Clock::time_point now, const std::vector<bool>& is_stopped) {
    std::vector<ProcessView> processes(options_.processes);
    for (Rank rank = 0; rank < options_.processes; ++rank) {
      processes[rank] = view_of(rank, is_stopped[rank], control_, children_);
      joined_ = joined_ || processes[rank].activity.pid != 0;
    }
    watch_.observe(now, std::move(processes));
  }

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
