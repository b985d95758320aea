#include "tools/doctor/in_job.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "am/job/job.h"
#include "am/route/router.h"
#include "shmem/node.h"
#include "shmem/region.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"
#include "tools/doctor/facts/gather.h"

namespace am::doctor {
namespace {

constexpr int kMostProcessors = 1024;  // of a machine, that are told to the others

// What each process says of itself to all.
struct Place {
  std::array<char, 40> boot;                                   // names the machine
  std::array<std::uint64_t, kMostProcessors / 64> processors;  // a bit for each it may run on
};

// A part of a longer text.
struct Part {
  std::uint32_t size;  // of the whole text
  std::array<char, 500> bytes;
};

Place my_place() {
  Place place{};
  place.boot = shmem::this_node().boot;
  for (const int processor : shmem::allowed_processors()) {
    if (processor >= kMostProcessors) continue;
    place.processors[processor / 64] |= std::uint64_t{1} << (processor % 64);
  }
  return place;
}

std::vector<int> processors_of(const Place& place) {
  std::vector<int> all;
  for (int i = 0; i < kMostProcessors; ++i) {
    if ((place.processors[i / 64] >> (i % 64) & 1) != 0) all.push_back(i);
  }
  return all;
}

// The text of every process, by rank. Collective.
std::vector<std::string> exchange_texts(Job& job, const std::string& mine) {
  std::vector<std::string> all(job.size());
  for (std::size_t done = 0, longest = 1; done < longest;) {
    Part part{.size = static_cast<std::uint32_t>(mine.size()), .bytes = {}};
    const std::size_t begin = std::min(done, mine.size());
    mine.copy(part.bytes.data(), part.bytes.size(), begin);
    const std::vector<Part> parts = job.exchange(part);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      longest = std::max<std::size_t>(longest, parts[rank].size);
      const std::size_t left = parts[rank].size - std::min<std::size_t>(done, parts[rank].size);
      all[rank].append(parts[rank].bytes.data(), std::min(left, part.bytes.size()));
    }
    done += part.bytes.size();
  }
  return all;
}

JobShape shape_of(const Job& job, const Router::Options& layout, const std::vector<Place>& places) {
  JobShape shape{.processes = job.size(),
                 .nodes = static_cast<std::uint32_t>(layout.leaders.size()),
                 .near = layout.near,
                 .here = 0};
  for (const Place& place : places) shape.here += place.boot == places[job.rank()].boot ? 1 : 0;
  return shape;
}

// What the processes of this machine may use together, and each alone.
void note_places(CoresFacts& facts, const std::vector<Place>& places, Rank me) {
  std::set<int> together;
  for (Rank rank = 0; rank < places.size(); ++rank) {
    if (places[rank].boot != places[me].boot) continue;
    facts.ranks.push_back(rank);
    facts.bound.push_back(processors_of(places[rank]));
    together.insert(facts.bound.back().begin(), facts.bound.back().end());
  }
  facts.allowed.assign(together.begin(), together.end());
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  return ranges_text(std::vector<int>(ranks.begin(), ranks.end()));
}

// The rank of this process as far as the environment says it: with PMIx it is not known, or 0.
Rank likely_rank(const Config& config) {
  if (config.job_fd >= 0 || config.rendezvous || config.pmix || !config.pmi) return config.rank;
  return config.pmi->rank;
}

// Whether the start of the job will open the network, as far as that is known before.
bool will_use_network(const Config& config) {
  return config.node >= 0 || (config.rendezvous && config.size > 1);
}

// Rank 0 looks at libfabric before the job does, so that its crash is a finding and not the end of
// the job. None: nothing is wrong with it, or it will not be used.
std::optional<NodeReport> examine_before(const Config& config) {
  if (likely_rank(config) != 0 || !will_use_network(config)) return std::nullopt;
  Facts facts;
  gather_network(facts, config);
  if (facts.network.failure.empty()) return std::nullopt;
  NodeReport report = examine_alone(config, {.nodes = 2});
  std::erase_if(report.findings, [](const Finding& one) { return one.check == "size"; });
  return report;
}

NodeReport examine_node(Job& job, const Config& config, const std::vector<Place>& places) {
  Router& router = job.router();
  Facts facts = gather_machine(config, shape_of(job, router.options(), places));
  note_places(facts.cores, places, job.rank());
  gather_network(facts, config);
  facts.start = {.tried = true, .launcher = job.launcher(), .error = ""};
  return {.host = shmem::host_name(),
          .ranks = ranks_text(router.near_ranks()),
          .findings = check_all(facts)};
}

// The job has started.
JobReport examine_together(Job& job, const Config& config) {
  Bundle bundle(job);
  const std::vector<Place> places = job.exchange(my_place());
  std::string mine;
  if (job.router().leads_node()) mine = to_bytes(examine_node(job, config, places));
  const std::vector<std::string> texts = exchange_texts(job, mine);
  JobReport report{.nodes = {}, .to_print = job.rank() == 0};
  for (const Rank leader : job.router().options().leaders) {
    report.nodes.push_back(from_bytes(texts[leader]));
  }
  job.finish(bundle);
  return report;
}

// Of this machine alone, in a job that does not start. Others than rank 0, which may all be here,
// leave out remarks.
NodeReport examine_failed(const Config& config, const std::string& error) {
  Facts facts = gather_machine(config, {});
  gather_network(facts, config);
  facts.start = {.tried = true, .launcher = "", .error = error};
  NodeReport report{.host = shmem::host_name(), .ranks = "", .findings = check_all(facts)};
  if (likely_rank(config) != 0) {
    std::erase_if(report.findings,
                  [](const Finding& one) { return one.severity == Severity::kRemark; });
  }
  return report;
}

}  // namespace

bool is_in_job(const Config& config) {
  return config.job_fd >= 0 || config.rendezvous || config.pmix || config.pmi ||
         !config.stranger.empty();
}

NodeReport examine_alone(const Config& config, const JobShape& shape) {
  Facts facts = gather_machine(config, shape);
  gather_network(facts, config);
  return {.host = shmem::host_name(), .ranks = "", .findings = check_all(facts)};
}

JobReport examine_job(const Config& config) {
  if (auto report = examine_before(config)) return {{std::move(*report)}, true};
  std::string error;
  try {
    Job job(config);
    return examine_together(job, config);
  } catch (const Error& refused) {
    error = refused.what();
  } catch (const shmem::Error& refused) {
    error = refused.what();
  }
  return {{examine_failed(config, error)}, true};
}

}  // namespace am::doctor
