// The pair calculator of OpenAtom (E. Bohm et al., CkDirect, 2009): many senders put the points of
// their states into the rows of one contiguous matrix, a library for dense matrices multiplies it
// when all have come, and the states get their points back, a step closer to being orthonormal.
//
//   ./run pair_calculator                                               every way
//   ./run -n 2 pair_calculator --states 64 --points 1000 --with stores  one
//   ./run -n 4 --nodes 2 pair_calculator --with channels --mark --verify
//
// Prints the time of an iteration and a checksum of the states that all leave. Exit code 1 if the
// checksums of two ways differ, or with --verify from that of a serial computation.

#include <cstdio>
#include <memory>

#include "examples/command_line.h"
#include "examples/pair_calculator/exchange.h"

namespace pair_calculator {
namespace {

using namespace splitc;
using examples::Way;

std::unique_ptr<Exchange> make_exchange(Way way, Problem& problem, bool mark) {
  if (way == Way::kMessages) return with_messages(problem);
  if (way == Way::kStores) return with_stores(problem);
  return with_channels(problem, mark);
}

void iterate(Problem& problem, Exchange& exchange) {
  exchange.send_points();
  for (std::size_t planes = problem.my_planes().size(); planes > 0; --planes) {
    const std::uint32_t plane = exchange.next_plane();
    problem.improve(plane);
    exchange.send_results(plane);
  }
  exchange.wait_for_results();
  problem.advance_states();
}

examples::Outcome solve(Way way, const Options& options, const examples::Runs& runs, bool mark) {
  Problem problem(options);
  const auto exchange = make_exchange(way, problem, mark);
  const double seconds = examples::timed(runs, [&](std::uint32_t) { iterate(problem, *exchange); });
  return {seconds, problem.checksum()};
}

int program(Args args) {
  Options options;
  bool mark = false;
  examples::Runs runs;
  examples::CommandLine line("The pair calculator of OpenAtom, by three ways of communicating.",
                             "pair_calculator");
  line.option("--states", options.states, "states").range(1u, 10'000u);
  line.option("--planes", options.planes, "planes").range(1u, 10'000u);
  line.option("--points", options.points, "points of a state in a plane").range(1u, 1'000'000u);
  line.flag("--mark", mark, "channels: polls see a channel only in the phase that waits for it");
  examples::add_options(line, runs);
  if (!line.parse(args)) return 0;

  on_one([&] {
    std::printf("%u processes with %u states of %zu points in each of %u planes\n", procs(),
                options.states, options.points, options.planes);
  });
  return examples::compare(
      runs, [&](Way way) { return solve(way, options, runs, mark); },
      [&] { return serial_checksum(options, runs.all_iterations()); });
}

}  // namespace
}  // namespace pair_calculator

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return pair_calculator::program(args); });
}
