#include "examples/prk/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <tuple>

#include "examples/progress.h"

namespace prk {
namespace {

using namespace splitc;

// Of all repetitions of one way.
struct Result {
  const Way* way;
  double seconds = std::numeric_limits<double>::infinity();  // of the fastest
  double found = 0;                                          // of the last, or of a wrong one
  bool right = true;
};

void run_once(const Runs& runs, const Problem& problem, Result& result) {
  const std::unique_ptr<Kernel> kernel = result.way->make();
  kernel->iterate();
  barrier();
  const double start = get_seconds();
  for (std::uint32_t i = 0; i < runs.iterations; ++i) kernel->iterate();
  const double seconds = all_reduce(get_seconds() - start, maximum());
  result.seconds = std::min(result.seconds, seconds / runs.iterations);

  const std::uint32_t all = runs.iterations + 1;
  const double found = all_reduce(kernel->found(all), std::plus());
  if (!result.right) return;
  const double expected = problem.expected(all);
  result.found = found;
  // "Not at most" instead of "more than": a NaN is wrong, too.
  result.right = std::abs(found - expected) <= 1e-8 * std::max(1.0, std::abs(expected));
}

void print(const Runs& runs, const Problem& problem, const Result& result) {
  const double rate = problem.work / result.seconds;
  std::printf("%-10s%16.*f%16.6f", result.way->name.c_str(), rate < 10 ? 6 : 3, rate,
              1e3 * result.seconds);
  if (result.right) {
    std::printf("  validates\n");
  } else {
    std::printf("  WRONG: %s is %.17g, and has to be %.17g\n", problem.verified.c_str(),
                result.found, problem.expected(runs.iterations + 1));
  }
}

}  // namespace

void add_options(examples::CommandLine& line, Runs& runs, std::vector<std::string> ways) {
  line.option("--iterations", runs.iterations, "that are timed, behind one that is not")
      .range(1u, 10'000'000u);
  line.option("--repetitions", runs.repetitions, "of all iterations; the fastest counts")
      .range(1u, 1'000'000u);
  if (ways.size() < 2) return;
  ways.insert(ways.begin(), "all");
  line.option("--with", runs.with, "how to communicate: one way, or all in turn").one_of(ways);
}

int measure(const Runs& runs, const Problem& problem, std::span<const Way> ways) {
  std::vector<Result> results;
  for (const Way& way : ways) {
    if (runs.with == "all" || runs.with == way.name) results.push_back({&way});
  }
  examples::Progress progress(results.size() * runs.repetitions);
  for (std::uint32_t i = 0; i < runs.repetitions; ++i) {
    for (Result& result : results) {
      run_once(runs, problem, result);
      progress.step();
    }
  }
  on_one([&] {
    progress.print([&] {
      std::printf("%s, %u processes\n%u iterations, the fastest of %u repetitions\n",
                  problem.title.c_str(), procs(), runs.iterations, runs.repetitions);
      std::printf("%-10s%16s%16s\n", "with", (problem.unit + "/s").c_str(), "ms/iteration");
      for (const Result& result : results) print(runs, problem, result);
    });
  });
  return std::ranges::all_of(results, &Result::right) ? 0 : 1;
}

Tiles::Tiles(std::size_t width, std::size_t height) : width_(width), height_(height) {
  std::tie(down_, across_) = examples::square_grid();
}

std::string Tiles::words() const {
  return std::to_string(across_) + " x " + std::to_string(down_) + " tiles";
}

}  // namespace prk
