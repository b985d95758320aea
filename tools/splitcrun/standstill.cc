#include "tools/splitcrun/standstill.h"

namespace am::launcher {

ProcessView view_of(Rank rank, bool is_stopped, Control& control, const Children& children) {
  using Life = ProcessView::Life;
  const Life life = !children.is_running(rank) ? Life::kEnded
                    : is_stopped               ? Life::kStopped
                                               : Life::kAlive;
  return {rank, life, control_rank(control, rank).activity.read()};
}

Standstill::Standstill(const Options& options, Control& control, const Children& children)
    : options_(options),
      control_(control),
      children_(children),
      timeout_(duration_of(options.stall_timeout_s.value_or(0))),
      interval_(
          observation_interval({options.stall_report_s, options.stall_timeout_s.value_or(0)})),
      schedule_(duration_of(options.stall_report_s)),
      next_(Clock::now() + interval_) {}

std::optional<Standstill::Clock::time_point> Standstill::deadline() const {
  if (options_.stall_report_s == 0 && !options_.stall_timeout_s) return std::nullopt;
  return next_;
}

void Standstill::observe(Clock::time_point now, const std::vector<bool>& is_stopped) {
  std::vector<ProcessView> processes(options_.processes);
  for (Rank rank = 0; rank < options_.processes; ++rank) {
    processes[rank] = view_of(rank, is_stopped[rank], control_, children_);
    joined_ = joined_ || processes[rank].activity.pid != 0;
  }
  watch_.observe(now, std::move(processes));
}

Standstill::News Standstill::look(Clock::time_point now, const std::vector<bool>& is_stopped) {
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

std::string Standstill::describe(Clock::time_point now, const std::vector<bool>& is_stopped) {
  observe(now, is_stopped);
  return joined_ ? watch_.describe() : "";
}

}  // namespace am::launcher
