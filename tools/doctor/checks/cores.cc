// Processors: how many there are for the processes of the job, and who may run where.
#include <algorithm>
#include <map>
#include <string>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

unsigned usable(const CoresFacts& facts) {
  const auto allowed = static_cast<unsigned>(facts.allowed.size());
  return facts.quota == 0 ? allowed : std::min(allowed, facts.quota);
}

std::string processors(std::uint64_t number) {
  return count_text(number, "processor", "processors");
}

// "2 processors (0,1)" that may be used.
std::string usable_text(const CoresFacts& facts) {
  std::string text = processors(facts.allowed.size()) + " (" + ranges_text(facts.allowed) + ")";
  if (facts.allowed.size() < facts.online) text += " of " + std::to_string(facts.online);
  if (facts.quota != 0 && facts.quota < facts.allowed.size()) {
    text += ", of which the cgroup gives the time of " + std::to_string(facts.quota);
  }
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_text(ranks);
}

// The processes that have one processor only, and share it: those of the first such processor.
std::vector<int> crowded(const CoresFacts& facts, int& processor) {
  std::map<int, std::vector<int>> alone;
  for (std::size_t i = 0; i < facts.bound.size() && i < facts.ranks.size(); ++i) {
    if (facts.bound[i].size() != 1) continue;
    std::vector<int>& sharing = alone[facts.bound[i][0]];
    sharing.push_back(static_cast<int>(facts.ranks[i]));
  }
  for (const auto& [number, ranks] : alone) {
    if (ranks.size() < 2) continue;
    processor = number;
    return ranks;
  }
  return {};
}

}  // namespace

Finding check_cores(const CoresFacts& facts, const JobShape& job) {
  const std::string seen = usable_text(facts);
  if (job.here == 0) {
    return {.check = "cores",
            .seen = seen,
            .means = "jobs of up to " + count_text(usable(facts), "process", "processes") +
                     " on this machine have a processor each"};
  }
  const std::string all = count_text(job.here, "process", "processes") + " on " + seen;
  if (job.here <= usable(facts)) {
    return {.check = "cores", .seen = all, .means = "each can have a processor of its own"};
  }
  return {
      .check = "cores",
      .severity = Severity::kWarning,
      .seen = all + (facts.spins ? ", and SPLITC_WAIT=spin" : ""),
      .means = facts.spins
                   ? "a process that waits keeps its processor from the one that it waits for, "
                     "until the scheduler takes it away"
                   : "they take turns: a wait costs turns of the scheduler instead of a cache "
                     "line",
      .remedy = (facts.spins ? "unset SPLITC_WAIT; " : "") + std::string("at most -n ") +
                std::to_string(usable(facts)) + " here, or more processors" +
                (facts.allowed.size() < facts.online
                     ? " (this process is bound to some: taskset, the launcher's binding, or the "
                       "batch system's --cpus-per-task)"
                     : "")};
}

Finding check_quota(const CoresFacts& facts, const JobShape& job) {
  if (facts.quota == 0) {
    return {.check = "quota",
            .seen = "no limit of processor time by a cgroup",
            .means = "processes are not stopped to keep one"};
  }
  const std::string seen = "the cgroup gives the time of " + processors(facts.quota) + ", and " +
                           std::to_string(facts.allowed.size()) + " may be used";
  const bool enough =
      facts.quota >= facts.allowed.size() || (job.here != 0 && job.here <= facts.quota);
  if (enough) {
    return {.check = "quota", .seen = seen, .means = "enough for processes that compute and wait"};
  }
  return {.check = "quota",
          .severity = Severity::kWarning,
          .seen = seen,
          .means =
              "when the time is used up all processes are stopped until the next period, as a "
              "rule up to 0.1 s",
          .remedy = "at most -n " + std::to_string(facts.quota) +
                    " on this machine, or a higher limit (cpu.max of the cgroup, --cpus of a "
                    "container)"};
}

Finding check_placement(const CoresFacts& facts, const JobShape& job) {
  if (facts.bound.empty()) {
    const bool bound = facts.allowed.size() < facts.online;
    return {.check = "placement",
            .seen = std::string("this process ") + (bound ? "may run on " : "is not bound: ") +
                    usable_text(facts),
            .means = bound ? "so do the processes that it starts (taskset, batch system)"
                           : "splitcrun gives each process a core if there are enough"};
  }
  int processor = 0;
  const std::vector<int> ranks = crowded(facts, processor);
  const auto wanted = std::min<std::size_t>(facts.bound.size(), facts.online);
  if (!ranks.empty() && facts.online > facts.allowed.size() && facts.allowed.size() < wanted) {
    return {.check = "placement",
            .severity = Severity::kWarning,
            .seen = ranks_text(ranks) + " are bound to processor " + std::to_string(processor) +
                    ", and the " + std::to_string(job.here) +
                    " processes of this machine together use " + usable_text(facts),
            .means = "processes take turns while other processors are idle",
            .remedy =
                "bind each to a core of its own: splitcrun --bind core, mpirun --bind-to core, "
                "srun --cpu-bind=cores"};
  }
  if (!ranks.empty() && facts.bound.size() <= usable(facts)) {
    return {.check = "placement",
            .severity = Severity::kWarning,
            .seen = ranks_text(ranks) + " are all bound to processor " + std::to_string(processor),
            .means = "they take turns, while there is a processor for each of the " +
                     std::to_string(facts.bound.size()) + " processes",
            .remedy =
                "bind each to a core of its own: splitcrun --bind core, mpirun --bind-to core, "
                "srun --cpu-bind=cores"};
  }
  return {.check = "placement",
          .seen = count_text(facts.bound.size(), "process", "processes") + " together on " +
                  usable_text(facts),
          .means = ranks.empty() ? "none is bound to the only processor of another"
                                 : "there are fewer processors than processes"};
}

}  // namespace am::doctor
