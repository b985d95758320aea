// What is said of one process.
#include "am/job/stall/code.h"
#include "am/job/stall/watch.h"

namespace am {
namespace {

std::string rank_text(Rank rank) { return "rank " + std::to_string(rank); }

std::string describe_needs(const WaitRecord& wait) {
  const std::string of = wait.peer == kNobody ? "" : rank_text(wait.peer);
  std::string text;
  if (wait.needs[0] != '\0') {
    text = std::string(", needs ") + wait.needs + (of.empty() ? "" : " of " + of);
  } else if (!of.empty()) {
    text = ", with " + of;
  }
  if (wait.wanted > wait.have) {
    text += ", " + std::to_string(wait.wanted - wait.have) + " " + wait.unit + " of " +
            std::to_string(wait.wanted) + " missing";
  }
  return text;
}

std::string describe_inside(const ProcessView& process) {
  const auto& now = process.activity;
  if (now.handler == Activity::kCallback) return "in a callback";
  if (now.handler == Activity::kReturned) {
    return "in on_returned for a message to " + rank_text(now.source);
  }
  const std::string name = describe_handler(now.pid, now.handler);
  return "in handler " + (name.empty() ? "" : name + " ") + "of a message of " +
         rank_text(now.source);
}

}  // namespace

std::string describe_call(const ProcessView& process) {
  const WaitRecord& wait = process.activity.wait;
  std::string text = wait.call;
  if (wait.line != 0) {
    return text + " at " + wait.file + ":" + std::to_string(wait.line);
  }
  if (wait.caller == 0) return text;
  const std::string caller = describe_code(process.activity.pid, wait.caller);
  return caller.empty() ? text : text + " called by " + caller;
}

std::string describe_process(const ProcessView& process, bool polls) {
  const auto& now = process.activity;
  if (now.state == Activity::State::kFinished) return "finished";
  if (process.life == ProcessView::Life::kEnded) return "ended";
  const std::string stopped =
      process.life == ProcessView::Life::kStopped ? "stopped by a signal, " : "";
  if (now.pid == 0) return stopped + "not yet in the library";
  // A call that waits polls: who has slept in one may be in a handler now.
  if (now.state == Activity::State::kWaiting && now.handler == 0) {
    return stopped + "in " + describe_call(process) + describe_needs(now.wait);
  }
  if (polls && now.state != Activity::State::kWaiting) return stopped + "running and polling";
  if (now.handler != 0) return stopped + describe_inside(process);
  return stopped + "computing without a poll";
}

std::string count_text(const std::vector<Rank>& ranks) {
  return ranks.size() == 1 ? rank_text(ranks[0]) : std::to_string(ranks.size()) + " processes";
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string text = "ranks ";
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (first == 0 ? "" : ", ") + std::to_string(ranks[first]);
    if (last > first) text += "-" + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace am
