#include "benchmarks/support/placement.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace bench {
namespace {

// The one core that this process may run on, or -1 if there are several.
std::int64_t only_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) return -1;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) return core;
  }
  return -1;
}

}  // namespace

Placement::Placement(am::Job& job) {
  std::vector<std::int64_t> cores = job.exchange(only_core());
  if (std::count(cores.begin(), cores.end(), -1) != 0) {
    binding_ = "not bound to cores";
    return;
  }
  binding_ = "bound to cores";
  for (const std::int64_t core : cores) binding_.append(" ").append(std::to_string(core));
  std::sort(cores.begin(), cores.end());
  const bool distinct = std::adjacent_find(cores.begin(), cores.end()) == cores.end();
  if (!distinct) binding_ += ", which are not distinct";
}

double Placement::settled(Pair& pair) {
  if (!pair.near()) return 0;
  Samples samples;
  for (int i = 0; i < 100; ++i) samples.add(pair.probe());
  return samples.median();
}

std::string Placement::regime(const Pair& pair) const {
  if (!pair.near()) return "placement: not to be seen from different nodes";
  const Samples& probes = pair.probes();
  const double least = std::min({before_, after_, probes.minimum()});
  const double strayed = probes.share_beyond(kSpread * least);
  const bool one_placement = std::max(before_, after_) <= kSpread * least && strayed < 0.1;
  const char* const label = !one_placement ? "mixed" : least < kFarNs ? "near" : "far";
  char text[200];
  std::snprintf(text, sizeof text, "placement: %s; line round trip %.0f ns before, %.0f after",
                label, before_, after_);
  std::string sentence = text;
  if (probes.empty()) return sentence;
  std::snprintf(text, sizeof text,
                "; between, %.0f at least, %.0f as a rule, %.0f %% of them beyond %.1fx the least",
                probes.minimum(), probes.median(), 100 * strayed, kSpread);
  return sentence + text;
}

}  // namespace bench
