#include "am/job/stall/watch.h"

#include <algorithm>
#include <map>

namespace am {
namespace {

constexpr std::size_t kMostGroups = 16;

// Processes of which the same is said.
struct Group {
  std::string text;
  std::vector<Rank> ranks;
  StallWatch::Clock::duration time;  // of the last that came to it
};

std::string text_of(const Group& group) {
  std::string text = count_text(group.ranks) + " " + group.text;
  const bool lasts = group.time > StallWatch::Clock::duration::zero();
  if (lasts && group.text != "finished" && group.text != "ended") {
    text +=
        (group.text.find(',') == std::string::npos ? " for " : ", for ") + seconds_text(group.time);
  }
  if (group.ranks.size() > 1) text += " (" + ranks_text(group.ranks) + ")";
  return text;
}

}  // namespace

std::string seconds_text(StallWatch::Clock::duration time) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100;
  std::string text = std::to_string(tenths / 10);
  if (tenths < 100 && tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " s";
}

StallWatch::Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<StallWatch::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

StallWatch::Clock::duration observation_interval(std::initializer_list<double> limits_s) {
  StallWatch::Clock::duration interval = StallWatch::kInterval;
  for (const double limit : limits_s) {
    if (limit != 0) interval = std::min(interval, duration_of(limit) / 4);
  }
  return std::max<StallWatch::Clock::duration>(interval, std::chrono::milliseconds(1));
}

// Of a process that waits, polls say nothing: it may look in vain for ever.
bool StallWatch::is_same(const ProcessView& a, const ProcessView& b) {
  const auto& x = a.activity;
  const auto& y = b.activity;
  if (a.life != b.life || x.state != y.state || x.pid != y.pid) return false;
  if (x.handled != y.handled || x.pieces != y.pieces) return false;
  if (x.state == Activity::State::kWaiting) return x.wait.progress == y.wait.progress;
  return x.polls == y.polls;
}

void StallWatch::observe(Clock::time_point now, std::vector<ProcessView> processes) {
  now_ = now;
  processes_.resize(processes.size(), {.view = {}, .since = now, .polls = false});
  for (std::size_t i = 0; i < processes.size(); ++i) {
    Process& known = processes_[i];
    known.polls = known.view.activity.polls != processes[i].activity.polls;
    if (!is_same(known.view, processes[i])) known.since = now;
    if (known.view.activity.pieces != processes[i].activity.pieces) advanced_at_ = now;
    known.view = processes[i];
  }
}

bool StallWatch::stands_still(const Process& process) {
  const auto& activity = process.view.activity;
  if (process.view.life == ProcessView::Life::kEnded) return false;
  if (activity.state == Activity::State::kWaiting) return true;
  return activity.state == Activity::State::kRunning && activity.handler != 0;
}

StallWatch::Clock::duration StallWatch::longest_stall() const {
  Clock::duration longest{};
  for (const Process& process : processes_) {
    const auto since = std::max(process.since, advanced_at_);
    if (stands_still(process)) longest = std::max(longest, now_ - since);
  }
  return longest;
}

std::string StallWatch::describe() const {
  std::map<std::string, Group> by_text;
  for (const Process& process : processes_) {
    const std::string text = describe_process(process.view, process.polls);
    const auto time = now_ - process.since;
    Group& group = by_text.try_emplace(text, Group{text, {}, time}).first->second;
    group.ranks.push_back(process.view.rank);
    group.time = std::min(group.time, time);
  }
  std::vector<const Group*> groups;
  groups.reserve(by_text.size());
  for (const auto& [text, group] : by_text) groups.push_back(&group);
  std::ranges::sort(groups, [](const Group* a, const Group* b) {
    if (a->ranks.size() != b->ranks.size()) return a->ranks.size() > b->ranks.size();
    return a->ranks < b->ranks;
  });
  std::string all;
  for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    all += (i == 0 ? "" : "; ") + text_of(*groups[i]);
  }
  if (groups.size() > kMostGroups) {
    all += "; and " + std::to_string(groups.size() - kMostGroups) + " more in other places";
  }
  return all;
}

std::string StallWatch::sentence() const {
  return "no progress for " + seconds_text(longest_stall()) + ": " + describe();
}

// Between two observations, as one process is looked at after the other: who had finished one job
// may be in the next by the time that another one of that is seen to wait.
std::optional<std::string> StallWatch::find_waiting_for_finished() const {
  for (const Process& done : processes_) {
    if (done.view.activity.state != Activity::State::kFinished || done.since == now_) continue;
    for (const Process& waits : processes_) {
      const auto& activity = waits.view.activity;
      if (activity.state != Activity::State::kWaiting || waits.since == now_ ||
          activity.wait.collective <= done.view.activity.collectives) {
        continue;
      }
      const std::string rank = "rank " + std::to_string(done.view.rank);
      return "rank " + std::to_string(waits.view.rank) + " in " + describe_call(waits.view) +
             " waits for " + rank + ", which has finished, and so for ever: " + rank +
             " has made fewer collective calls (barriers among them) than the others, and all must "
             "make the same; a checked build names the first that differs";
    }
  }
  return std::nullopt;
}

bool StallSchedule::due(Duration stall) {
  if (limit_ == Duration::zero()) return false;
  if (stall < limit_) next_ = limit_;
  if (stall < next_) return false;
  next_ = 2 * stall;
  return true;
}

}  // namespace am
