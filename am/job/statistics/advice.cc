#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "am/job/statistics/summary.h"

namespace am::statistics {
namespace {

constexpr std::size_t kMost = 3;
constexpr double kLeast = 0.1;            // seconds of all processes, to be worth a sentence
constexpr double kWorth = 0.05;           // of the time of all processes
constexpr std::uint64_t kMany = 1'000;    // operations that are waited for one by one
constexpr std::uint64_t kFlood = 50'000;  // operations that are not
constexpr std::uint64_t kSmall = 64;      // bytes of each
constexpr double kUneven = 2;             // as long in the mean as in the process that waits least

// What a call that is made one at a time, or many times for little, would better be.
struct Remedy {
  std::string_view call;  // or how it begins, if that ends with '_'
  std::string_view instead;
};
// Calls that wait for each operation.
constexpr std::array kOneByOne = {
    Remedy{"read",
           "start several by get() before one sync(), or take a range at once by bulk_get()"},
    Remedy{"write", "start several by put() before one sync(), or use store()"},
    Remedy{"bulk_read", "start several by bulk_get() before one sync()"},
    Remedy{"bulk_write", "start several by bulk_put() before one sync()"},
    Remedy{"fetch_and_",
           "start several by start_fetch_and_add() and its like, or use atomic_add() "
           "where nobody needs the value"},
    Remedy{"cmp_and_swap", "start several by start_cmp_and_swap()"},
    Remedy{"future::result",
           "start several calls before the first result(), or gather small ones by lookups "
           "(aggregate_lookups)"},
    Remedy{"future::wait", "start several calls before the first wait()"},
};
// Calls that do not wait, but cost a message each.
constexpr std::array kManySmall = {
    Remedy{"get",
           "take ranges by bulk_get(), and elements all over the place by lookups "
           "(aggregate_lookups) or get_indexed()"},
    Remedy{"put",
           "write ranges by bulk_put(), and elements all over the place by an aggregator, or "
           "store()"},
    Remedy{"rpc", "gather small calls by an aggregator, or by lookups if they have results"},
    Remedy{"rpc_ff", "gather them by an aggregator"},
    Remedy{"rpc_ff_at", "gather them by an aggregator"},
    Remedy{"atomic_add", "gather them by an aggregator"},
};
constexpr std::array kCollective = {std::string_view("barrier"), std::string_view("all_"),
                                    std::string_view("barrier_wait")};

template <std::size_t kCount>
const Remedy* remedy_of(const std::array<Remedy, kCount>& remedies, std::string_view call) {
  const auto* const found = std::ranges::find_if(remedies, [&](const Remedy& one) {
    return one.call.ends_with('_') ? call.starts_with(one.call) : call == one.call;
  });
  return found == remedies.end() ? nullptr : found;
}

struct Sentence {
  double cost;  // seconds, of all processes
  std::string text;
};

std::string count_text(std::uint64_t count) {
  if (count < 1'000'000) return std::to_string(count);
  return fmt::format("{:.1f} million", static_cast<double>(count) * 1e-6);
}

void judge_operations(const CallStatistics& call, double waited_in_sync,
                      std::vector<Sentence>& sentences) {
  const double waited = static_cast<double>(call.waited_ns) * 1e-9;
  const std::uint64_t times = std::max(call.far.operations, call.waits);
  if (const Remedy* const one = remedy_of(kOneByOne, call.call); one && times >= kMany) {
    sentences.push_back(
        {waited, fmt::format("{} waits {:.2f} s for {} single operations: {}", call.name(), waited,
                             count_text(times), one->instead)});
  }
  const bool small =
      call.far.operations >= kFlood && call.far.bytes <= kSmall * call.far.operations;
  if (const Remedy* const many = remedy_of(kManySmall, call.call); many && small) {
    const double cost = std::max(waited, waited_in_sync);
    sentences.push_back({cost, fmt::format("{} makes {} operations of {} bytes each: {}",
                                           call.name(), count_text(call.far.operations),
                                           call.far.bytes / call.far.operations, many->instead)});
  }
}

void judge_credit(const CallStatistics& call, std::vector<Sentence>& sentences) {
  if (call.needs != kNeedsCredit) return;
  const double waited = static_cast<double>(call.waited_ns) * 1e-9;
  sentences.push_back(
      {waited,
       fmt::format("{} waits {:.2f} s for credit, as what it sends is handled later than it comes: "
                   "let the receivers poll more often, or gather small messages by an aggregator",
                   call.name(), waited)});
}

// Seconds that each process has waited in that call.
std::vector<double> waited_by_process(std::span<const ProcessStatistics> processes,
                                      const CallStatistics& which) {
  std::vector<double> seconds;
  for (const ProcessStatistics& process : processes) {
    const auto found = std::ranges::find_if(process.calls, [&](const CallStatistics& call) {
      return call.call == which.call && call.place == which.place;
    });
    seconds.push_back(found == process.calls.end() ? 0
                                                   : static_cast<double>(found->waited_ns) * 1e-9);
  }
  return seconds;
}

// Who comes last to what all do together lets the others wait, and waits least.
void judge_balance(std::span<const ProcessStatistics> processes, const CallStatistics& call,
                   std::vector<Sentence>& sentences) {
  const bool collective = std::ranges::any_of(
      kCollective, [&](std::string_view name) { return call.call.starts_with(name); });
  if (!collective || processes.size() < 2) return;
  const std::vector<double> seconds = waited_by_process(processes, call);
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double mean = sum / static_cast<double>(seconds.size());
  const auto least = std::ranges::min_element(seconds);
  if (mean < kUneven * *least) return;
  const auto last = static_cast<std::size_t>(least - seconds.begin());
  // What the others do less than it, before they wait for it: compute, or wait for something else.
  const auto beyond_others = [&](auto&& measure) {
    double others = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) others += i == last ? 0 : measure(i);
    return measure(last) - others / static_cast<double>(processes.size() - 1);
  };
  const double computes = beyond_others(
      [&](std::size_t i) { return processes[i].elapsed_s() - processes[i].waited_s(); });
  const double waits =
      beyond_others([&](std::size_t i) { return processes[i].waited_s() - seconds[i]; });
  const bool works = computes >= waits;
  sentences.push_back(
      {sum, fmt::format("rank {} comes last to {}, where the others wait {:.2f} s each: {}", last,
                        call.name(), (sum - *least) / static_cast<double>(seconds.size() - 1),
                        works ? "it has more to do than they have"
                              : "it waits before that itself, perhaps for them")});
}

}  // namespace

std::vector<std::string> advise(std::span<const ProcessStatistics> processes) {
  const std::vector<CallStatistics> calls = all_calls(processes);
  double elapsed = 0;
  for (const ProcessStatistics& process : processes) elapsed += process.elapsed_s();
  double in_sync = 0;  // seconds
  for (const CallStatistics& call : calls) {
    if (call.call.starts_with("sync") || call.call == "quiesce") {
      in_sync += static_cast<double>(call.waited_ns) * 1e-9;
    }
  }
  std::vector<Sentence> sentences;
  for (const CallStatistics& call : calls) {
    judge_operations(call, in_sync, sentences);
    judge_credit(call, sentences);
    judge_balance(processes, call, sentences);
  }
  std::erase_if(sentences,
                [&](const Sentence& one) { return one.cost < std::max(kLeast, kWorth * elapsed); });
  std::ranges::stable_sort(sentences, std::greater(), &Sentence::cost);
  std::vector<std::string> texts;
  for (Sentence& one : sentences) {
    if (texts.size() < kMost) texts.push_back(std::move(one.text));
  }
  return texts;
}

}  // namespace am::statistics
