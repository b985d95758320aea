// Runs a litmus test many times, with other places and other pauses, and counts its outcomes.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/litmus/process.h"
#include "tests/litmus/program.h"

namespace litmus {

// How many rounds a test has if all its placements are of one kind.
struct Rounds {
  std::uint64_t fast;    // on one node, each process with a core of its own
  std::uint64_t shared;  // the same, but other processes of the job poll on these cores
  std::uint64_t slow;    // on one node, with more processes than cores, or barriers in the test
  std::uint64_t far;
};
constexpr Rounds operator*(const Rounds& rounds, std::uint64_t times) {
  return {rounds.fast * times, rounds.shared * times, rounds.slow * times, rounds.far * times};
}

struct Report {
  std::map<std::string, std::uint64_t> outcomes;
  std::vector<std::string> forbidden;  // those of the first rounds that had one, a sentence each
};

// The memory of all tests, and what they have in common. Making and ending one is collective.
//
// A round runs each process of the program once, on locations of its own, each in a cache line of
// its own. The processes of a program begin a round together: on one node they wait for one
// another's flags, which takes some 100 ns, and otherwise in a barrier.
class Engine {
 public:
  Engine();

  // Collective. Process 0 has the report, the others an empty one.
  Report run(const Program& program, const Rounds& asked);

 private:
  void run_batch(const Program& program, const Placement& placement, std::size_t rounds,
                 std::uint64_t seed);
  void run_beside(const Program& program, std::size_t rounds);
  void begin_round(const Placement& placement);
  void take_in(const Program& program, const Placement& placement, std::size_t rounds,
               Report& report) const;

  splitc::spread_array<std::byte> memory_;      // of all locations, at each process
  splitc::spread_array<char> results_;          // registers as digits, by round
  splitc::spread_array<std::uint64_t> starts_;  // a cache line each: the round that it has come to
  std::uint64_t start_ = 0;
  Messages messages_;
};

}  // namespace litmus
