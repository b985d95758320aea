// Electromagnetic waves on a random bipartite graph, the classic of the papers on Split-C: the same
// program in eight versions, each of which waits less for its neighbours than the one before.
//
//   ./run em3d                                    all versions
//   ./run -n 2 em3d --version get --remote 40     one
//
// Prints the microseconds that a process takes for an edge, and compares the results of every
// version with those of a serial sweep, bit by bit. Exit code 1 if one differs. With --csv it
// prints the seconds in all, and a checksum of the results.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/command_line.h"
#include "examples/em3d/graph.h"
#include "examples/em3d/sweep.h"
#include "examples/em3d/versions.h"
#include "examples/progress.h"
#include "examples/random.h"
#include "splitc/splitc.h"

namespace em3d {
namespace {

using namespace splitc;

constexpr std::uint64_t kMaxEdges = 100'000'000;  // of one side on one process: 2.4 GB of tables

// What is run, and how it is printed.
struct Request {
  std::string version = "all";
  std::uint32_t repetitions = 1;
  bool csv = false;
};

// The graph as far as this process has it, ready for all versions.
class Problem {
 public:
  explicit Problem(const Options& options)
      : options_(options),
        electric_(procs(), options.size),
        magnetic_(procs(), options.size),
        expected_(procs(), 2 * std::size_t{options.size}),
        electric_sweep_(options, Side::kElectric, electric_, magnetic_),
        magnetic_sweep_(options, Side::kMagnetic, magnetic_, electric_) {
    const std::vector<char> partners = partners_of(electric_sweep_, magnetic_sweep_);
    electric_sweep_.open_channels(partners);
    magnetic_sweep_.open_channels(partners);
    on_one([&] { solve_serially(); });
    sync();
    barrier();
  }

  // Seconds that all steps take.
  double run(const Version& version) {
    const Graph graph(options_, procs());
    for (std::uint32_t i = 0; i < options_.size; ++i) {
      electric_.mine()[i] = graph.first_value(Side::kElectric, my_proc(), i);
      magnetic_.mine()[i] = graph.first_value(Side::kMagnetic, my_proc(), i);
    }
    barrier();
    const double start = get_seconds();
    for (std::uint32_t step = 0; step < options_.steps; ++step) {
      version.half_step(electric_sweep_);
      version.half_step(magnetic_sweep_);
    }
    barrier();
    return get_seconds() - start;
  }

  // The nodes of all processes whose values are not those of the serial sweep.
  std::uint64_t all_differences() const {
    const auto expected = expected_.mine();
    std::uint64_t differences = 0;
    for (std::uint32_t i = 0; i < options_.size; ++i) {
      differences += !same(electric_.mine()[i], expected[i]);
      differences += !same(magnetic_.mine()[i], expected[options_.size + i]);
    }
    return all_reduce(differences, std::plus());
  }

  // Of the nodes of all processes, in the order of serial_sweep().
  std::uint64_t all_checksum() const {
    std::uint64_t sum = 0;
    std::uint64_t place = std::uint64_t{my_proc()} * 2 * options_.size;
    for (const Values* values : {&electric_, &magnetic_}) {
      for (const double value : values->mine()) sum += examples::mark(place++, value);
    }
    return all_reduce(sum, std::plus());
  }

 private:
  static bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }

  // Gives every process the values its nodes shall have in the end.
  void solve_serially() {
    const std::vector<double> values = serial_sweep(options_, procs());
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      const std::size_t block = expected_.block();
      bulk_write(expected_.on(proc), std::span(values).subspan(proc * block, block));
    }
  }

  Options options_;
  Values electric_, magnetic_;
  spread_array<double> expected_;  // a process's electric nodes, then its magnetic ones
  Sweep electric_sweep_, magnetic_sweep_;
};

void print_heading(const Options& options) {
  std::printf("%u processes with 2 x %u nodes of degree %u, %u %% of edges remote, %u steps\n",
              procs(), options.size, options.degree, options.remote, options.steps);
  std::printf("%-8s%10s\n", "version", "us/edge");
}

// Of one version.
struct Result {
  double seconds;             // of the fastest repetition
  std::uint64_t differences;  // in all of them
  std::uint64_t checksum;
};

void print(const Options& options, const Request& request, const Version& version,
           const Result& result) {
  if (request.csv && result.differences == 0) {
    std::printf("%s,%.9f,%016lx\n", version.name.data(), result.seconds, result.checksum);
    return;
  }
  const double edges = 2.0 * options.size * options.degree * options.steps;
  std::printf("%-8s%10.4f  ", version.name.data(), 1e6 * result.seconds / edges);
  if (result.differences == 0) {
    std::printf("equal to the serial sweep\n");
  } else {
    std::printf("WRONG: %lu values are not those of the serial sweep\n", result.differences);
  }
}

// Returns 0 if every version was right.
int compare(const Options& options, const Request& request) {
  Problem problem(options);
  on_one([&] {
    if (!request.csv) print_heading(options);
  });
  int wrong = 0;
  const std::size_t count = request.version == "all" ? versions().size() : 1;
  examples::Progress progress(count * request.repetitions);
  for (const Version& version : versions()) {
    if (request.version != "all" && request.version != version.name) continue;
    double seconds = std::numeric_limits<double>::infinity();
    std::uint64_t differences = 0;
    for (std::uint32_t i = 0; i < request.repetitions; ++i) {
      seconds = std::min(seconds, problem.run(version));
      differences += problem.all_differences();
      progress.step();
    }
    const std::uint64_t checksum = problem.all_checksum();
    wrong += differences != 0;
    on_one([&] {
      progress.print([&] { print(options, request, version, {seconds, differences, checksum}); });
    });
  }
  return wrong == 0 ? 0 : 1;
}

int program(Args args) {
  Options options;
  Request request;
  std::vector<std::string> names{"all"};
  for (const Version& version : versions()) names.emplace_back(version.name);

  examples::CommandLine line(
      "Electromagnetic waves on a random bipartite graph, in eight versions.", "em3d");
  line.option("--size", options.size, "nodes of each side on each process").range(1u, 10'000'000u);
  line.option("--degree", options.degree, "edges of each node").range(1u, 10'000u);
  line.option("--remote", options.remote, "percent of them that lead to other processes")
      .range(0u, 100u);
  line.option("--steps", options.steps, "steps in time").range(1u, 1'000'000u);
  line.option("--seed", options.seed, "another seed, another graph").not_negative();
  line.option("--version", request.version, "one of them, or all").one_of(names);
  line.option("--repetitions", request.repetitions, "of each; the fastest counts")
      .range(1u, 1'000'000u);
  line.flag("--csv", request.csv, "lines of VERSION,SECONDS,CHECKSUM");
  if (!line.parse(args)) return 0;
  if (std::uint64_t{options.size} * options.degree > kMaxEdges) {
    throw std::runtime_error(
        "em3d: --size times --degree is more than 100 million edges a "
        "process; make one of them smaller");
  }
  return compare(options, request);
}

}  // namespace
}  // namespace em3d

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return em3d::program(args); });
}
