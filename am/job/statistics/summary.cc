#include "am/job/statistics/summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace am::statistics {
namespace {

constexpr std::size_t kShown = 12;         // calls
constexpr std::size_t kMatrix = 16;        // processes of which the traffic is shown one by one
constexpr std::uint64_t kShortNs = 1'000;  // less than this, in all, is not worth a line

// 1234567: "1,234,567".
std::string with_commas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", value * 1e-3);
  if (bytes < 10'000'000'000) return fmt::format("{:.1f} MB", value * 1e-6);
  return fmt::format("{:.1f} GB", value * 1e-9);
}

std::string time_text(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", value * 1e-3);
  if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", value * 1e-6);
  return fmt::format("{:.1f} s", value * 1e-9);
}

// Those of one route: `what` they are.
void add_operations(std::string& text, std::span<const CallStatistics> calls,
                    CallSites::Traffic CallStatistics::*route, const char* what) {
  std::vector<CallStatistics> some;
  std::ranges::copy_if(calls, std::back_inserter(some), [route](const CallStatistics& call) {
    return (call.*route).operations != 0;
  });
  if (some.empty()) return;
  std::ranges::stable_sort(some, std::greater(), [route](const CallStatistics& call) {
    return (call.*route).operations;
  });
  text += fmt::format("\n{:>14} {:>10} {:>10}   {}\n", "number", "bytes", "each", what);
  for (const CallStatistics& call : std::span(some).first(std::min(some.size(), kShown))) {
    const auto& [operations, bytes] = call.*route;
    text += fmt::format("{:>14} {:>10} {:>10}   {}\n", with_commas(operations), bytes_text(bytes),
                        bytes_text(bytes / operations), call.name());
  }
  if (some.size() > kShown)
    text += fmt::format("  and {} places with fewer\n", some.size() - kShown);
}

void add_waits(std::string& text, std::span<const CallStatistics> calls) {
  std::vector<CallStatistics> some;
  std::ranges::copy_if(calls, std::back_inserter(some),
                       [](const CallStatistics& call) { return call.waited_ns >= kShortNs; });
  if (some.empty()) return;
  text += fmt::format("\n{:>14} {:>10} {:>10}   waits\n", "number", "in all", "each");
  for (const CallStatistics& call : std::span(some).first(std::min(some.size(), kShown))) {
    text += fmt::format("{:>14} {:>10} {:>10}   {}{}\n", with_commas(call.waits),
                        time_text(call.waited_ns), time_text(call.waited_ns / call.waits),
                        call.name(), call.needs.empty() ? "" : ", for " + call.needs);
  }
  if (some.size() > kShown)
    text += fmt::format("  and {} places with less\n", some.size() - kShown);
}

// Who talks to whom.
void add_traffic(std::string& text, std::span<const ProcessStatistics> processes, bool near_too) {
  const bool any = std::ranges::any_of(processes, [](const ProcessStatistics& process) {
    return std::ranges::any_of(process.traffic, [](const auto& to) { return to.operations != 0; });
  });
  if (!any || processes.size() > kMatrix) return;
  text += fmt::format("\n  operations{}, from each process (line) to each (column)\n       ",
                      near_too ? "" : " with other nodes");
  for (std::size_t to = 0; to < processes.size(); ++to) text += fmt::format(" {:>11}", to);
  text += "\n";
  for (std::size_t from = 0; from < processes.size(); ++from) {
    text += fmt::format("  {:>5}", from);
    for (const auto& to : processes[from].traffic) {
      text += fmt::format(" {:>11}", to.operations == 0 ? "-" : with_commas(to.operations));
    }
    text += "\n";
  }
}

// What all processes have of `what`, together.
template <class Stats>
Stats sum_of(std::span<const ProcessStatistics> processes, Stats ProcessStatistics::*what) {
  Stats sum;
  for (const ProcessStatistics& process : processes) sum += process.*what;
  return sum;
}

// How well messages are coalesced, and what needed none.
void add_sends(std::string& text, const SendStats& sent) {
  if (sent.sends != 0) {
    text += fmt::format("\n  packets to other nodes: {} messages in {} sends, {:.1f} each; {}\n",
                        with_commas(sent.messages), with_commas(sent.sends),
                        static_cast<double>(sent.messages) / static_cast<double>(sent.sends),
                        bytes_text(sent.bytes));
  }
  if (sent.accessed != 0) {
    text += fmt::format("  read and written by the network itself (RMA): {}\n",
                        bytes_text(sent.accessed));
  }
}

// What the network did to datagrams, where this library repairs that itself.
void add_losses(std::string& text, const LossStats& losses) {
  if (losses.sent == 0) return;
  text += fmt::format(
      "\n  datagrams: {} sent, of which {} again ({:.1f} %); received {} twice, {} damaged\n",
      with_commas(losses.sent), with_commas(losses.repeated),
      100 * static_cast<double>(losses.repeated) / static_cast<double>(losses.sent),
      with_commas(losses.twice), with_commas(losses.damaged));
}

double share_waited(const ProcessStatistics& process) {
  return process.elapsed_ns == 0 ? 0 : 100 * process.waited_s() / process.elapsed_s();
}

}  // namespace

std::string CallStatistics::name() const {
  if (place.empty()) return call;
  return call + (place.find('(') == std::string::npos ? " at " : " in ") + place;
}

double ProcessStatistics::waited_s() const noexcept {
  std::uint64_t ns = 0;
  for (const CallStatistics& call : calls) ns += call.waited_ns;
  return static_cast<double>(ns) * 1e-9;
}

std::vector<CallSites::Site> worth_telling(std::vector<CallSites::Site> all, std::size_t most) {
  using Site = CallSites::Site;
  std::ranges::sort(all, std::greater(), [](const Site& site) {
    return std::pair(site.waited_ns, site.far.operations + site.near.operations);
  });
  if (all.size() <= most) return all;
  std::ranges::sort(all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), std::greater(),
                    [](const Site& site) { return site.far.operations + site.near.operations; });
  if (all.size() <= 2 * most) return all;
  Site others{.call = CallSites::kOthers};
  for (const Site& site : std::span(all).subspan(2 * most)) {
    others.far += site.far;
    others.near += site.near;
    others.waits += site.waits;
    others.waited_ns += site.waited_ns;
  }
  all.resize(2 * most);
  all.push_back(others);
  return all;
}

std::vector<CallStatistics> all_calls(std::span<const ProcessStatistics> processes) {
  std::map<std::pair<std::string, std::string>, CallStatistics> sums;
  for (const ProcessStatistics& process : processes) {
    for (const CallStatistics& call : process.calls) {
      CallStatistics& sum = sums[{call.call, call.place}];
      sum.call = call.call;
      sum.place = call.place;
      sum.far += call.far;
      sum.near += call.near;
      sum.waits += call.waits;
      sum.waited_ns += call.waited_ns;
      if (!call.needs.empty()) sum.needs = call.needs;
    }
  }
  std::vector<CallStatistics> all;
  all.reserve(sums.size());
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  std::ranges::stable_sort(all, std::greater(), &CallStatistics::waited_ns);
  return all;
}

std::string summarize(std::span<const ProcessStatistics> processes, std::uint32_t nodes) {
  const auto most = std::ranges::max_element(processes, {}, share_waited);
  const auto least = std::ranges::min_element(processes, {}, share_waited);
  const double sum = std::accumulate(
      processes.begin(), processes.end(), 0.0,
      [](double all, const ProcessStatistics& process) { return all + share_waited(process); });
  const auto rank_of = [&](auto at) { return at - processes.begin(); };
  std::string text = fmt::format(
      "statistics of {} {} on {} {}, {:.2f} s; of it waited {:.0f} % (rank {}: {:.0f} %, rank {}: "
      "{:.0f} %)\n",
      processes.size(), processes.size() == 1 ? "process" : "processes", nodes,
      nodes == 1 ? "node" : "nodes", processes.front().elapsed_s(),
      sum / static_cast<double>(processes.size()), rank_of(least), share_waited(*least),
      rank_of(most), share_waited(*most));
  const std::vector<CallStatistics> calls = all_calls(processes);
  add_operations(text, calls, &CallStatistics::far, "operations with other nodes");
  add_operations(text, calls, &CallStatistics::near, "operations within the node");
  add_waits(text, calls);
  const bool near_too = std::ranges::any_of(
      calls, [](const CallStatistics& call) { return call.near.operations != 0; });
  add_traffic(text, processes, near_too);
  add_sends(text, sum_of(processes, &ProcessStatistics::sent));
  add_losses(text, sum_of(processes, &ProcessStatistics::losses));
  const std::vector<std::string> advice = advise(processes);
  if (!advice.empty()) text += "\n";
  for (const std::string& sentence : advice) text += "  * " + sentence + "\n";
  return text;
}

}  // namespace am::statistics
