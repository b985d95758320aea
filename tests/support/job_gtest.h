// How GoogleTest behaves in each process of a job: all run the same cases in the same order, the
// first process writes the one report, and a process that fails a case leaves with exit code 1 at
// once (the launcher then ends the others, which may wait for it).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace test {

// One process of a job, as far as GoogleTest is concerned.
struct JobGtest {
  std::uint32_t rank;
  // Gives a number to all; returns that of rank 0. Collective.
  std::function<std::uint64_t(std::uint64_t)> share;
  // Called by every process after each case that it has passed. Collective.
  std::function<void()> meet;
};

// Runs all cases, with one seed for all processes. Returns main()'s result.
int run_cases(int argc, char** argv, const JobGtest& job);

}  // namespace test
