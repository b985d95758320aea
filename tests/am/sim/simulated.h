// What the tests of simulated jobs have in common.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/am/sim/job.h"
#include "tests/soak/content.h"
#include "tests/support/seed.h"

namespace am::sim {

inline constexpr std::uint32_t kProcesses = 3;
inline constexpr std::uint64_t kSeeds = 25;

// The networks that protocols must get along with, by name.
struct Kind {
  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
  static std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

  const char* name;
  NetworkOptions options;
};
inline constexpr Kind kKinds[] = {
    {"rma", {}},
    {"ordered_writes", {.writes_before_packets = true}},
    {"emulated_rma", {.prefers_packets = true}},
    {"written_together", {.prefers_packets = true, .writes_with_packets = true}},
    {"no_rma", {.rma = false}},
};

class Simulated : public testing::TestWithParam<Kind> {
 protected:
  // Runs `body` as a job of kProcesses, with kSeeds seeds from the program's (--seed=N) on, up to
  // the first that fails.
  void run_all(const std::function<void(Process&)>& body) {
    for (std::uint64_t seed = ::test::seed(); seed < ::test::seed() + kSeeds; ++seed) {
      run({.seed = seed, .network = GetParam().options}, kProcesses, body);
      if (HasFailure()) {
        ADD_FAILURE() << "with seed " << seed << "; at once with --seed=" << seed;
        return;
      }
    }
  }
};

// The bytes that `key` stands for; soak::difference() compares with them.
inline std::vector<std::byte> content(std::uint64_t key, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  soak::fill(made, key);
  return made;
}

}  // namespace am::sim
