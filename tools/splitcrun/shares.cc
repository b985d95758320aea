#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/splitcrun/topology.h"

namespace am::launcher {
namespace {

// The first processor of each core, then the second of each that has one, and so on.
std::vector<Processors> hardware_threads(const std::vector<Processors>& cores) {
  std::vector<Processors> all;
  for (std::size_t nth = 0, before = 1; before != all.size(); ++nth) {
    before = all.size();
    for (const Processors& core : cores) {
      if (nth < core.size()) all.push_back({core[nth]});
    }
  }
  return all;
}

}  // namespace

std::vector<Processors> give_cores(const std::vector<Processors>& cores, std::uint32_t processes,
                                   std::uint32_t threads) {
  const std::uint64_t wanted = std::uint64_t{processes} * threads;
  const std::vector<Processors> units = wanted <= cores.size() ? cores : hardware_threads(cores);
  if (wanted > units.size()) return {};
  std::vector<Processors> all(processes);
  for (std::size_t i = 0; i < wanted; ++i) {
    Processors& own = all[i / threads];
    own.insert(own.end(), units[i].begin(), units[i].end());
  }
  for (Processors& own : all) std::ranges::sort(own);
  return all;
}

std::vector<Processors> spread(const std::vector<Processors>& domains, std::uint32_t processes) {
  std::vector<Processors> all;
  for (std::uint64_t i = 0; i < processes; ++i) {
    all.push_back(domains[i * domains.size() / processes]);
  }
  return all;
}

}  // namespace am::launcher
