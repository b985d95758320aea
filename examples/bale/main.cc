// Bale's kernels: small programs that use all of a machine's memory at random.
//
// They are those of Bale (https://github.com/jdevinney/bale, bale_classic/apps), which compares
// ways of writing them and of gathering what they send. Here each is written in four styles:
//
//   plain       gets, puts and atomics, many in flight
//   aggregator  updates that travel in blocks
//   rounds      updates in one parcel for each process, exchanged by all at a time
//   rpc         a call for each update
//
// Every run checks its answer as Bale does: a histogram by undoing it, a gather by the values, a
// transpose by transposing it once more, a topological sort by the triangle that it has to find,
// triangles by a graph whose number of them is known, shortest paths by Dijkstra's algorithm.
//
//   bale all                                      every kernel in every style
//   bale histogram --updates 1000000 --repetitions 5
//   bale triangles --stars 20 20 10               of a Kronecker product of three stars
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "examples/bale/input.h"
#include "examples/bale/kernel.h"
#include "examples/command_line.h"
#include "examples/progress.h"

namespace bale {
namespace {

using namespace splitc;

struct Choice {
  const char* name;
  const char* counts;  // what is an update of it
  std::unique_ptr<Kernel> (*make)(const Problem& problem);
};
constexpr Choice kKernels[] = {
    {"histogram", "updates", &make_histogram},
    {"index_gather", "words", &make_index_gather},
    {"random_permutation", "elements", &make_random_permutation},
    {"transpose", "entries", &make_transpose},
    {"permuted_matrix", "entries", &make_permuted_matrix},
    {"topological_sort", "entries", &make_topological_sort},
    {"triangles", "candidates", &make_triangles},
    {"shortest_paths", "edges", &make_shortest_paths},
};

struct Options {
  Problem problem;
  std::string kernel = "all";
  std::string style = "all";
  std::uint32_t repetitions = 1;
};

bool read_options(Args args, Options& options) {
  examples::CommandLine line("Bale's kernels, each in several styles", "bale");
  std::vector<std::string> kernels{"all"}, styles{"all"};
  for (const Choice& choice : kKernels) kernels.emplace_back(choice.name);
  styles.insert(styles.end(), std::begin(kStyleNames), std::end(kStyleNames));
  Problem& problem = options.problem;
  line.option("kernel", options.kernel, "one of them, or all").one_of(kernels).required();
  line.option("--style", options.style, "how it is written").one_of(styles);
  line.option("--size", problem.size, "words, or rows of a matrix, of each process")
      .range(1u, 1u << 28);
  line.option("--updates", problem.updates, "of histogram and index_gather, by each process")
      .range(std::uint64_t{0}, std::uint64_t{1} << 32);
  line.option("--degree", problem.degree, "columns drawn for each row of a random matrix")
      .range(0u, std::uint32_t{kMostDegree});
  line.option("--stars", problem.stars,
              "triangles of the Kronecker product of stars with so many leaves, not of a random "
              "graph")
      .without_default();
  line.option("--seed", problem.seed, "of the random numbers");
  line.option("--repetitions", options.repetitions, "of each; the fastest counts")
      .range(1u, 1'000'000u);
  if (!line.parse(args)) return false;
  if (std::uint64_t{problem.size} * procs() >= std::uint64_t{1} << 31) {
    throw std::runtime_error("--size " + std::to_string(problem.size) + " of " +
                             std::to_string(procs()) +
                             " processes is more than the 2^31 rows that indices of 32 bits can "
                             "name; take fewer");
  }
  return true;
}

// Whether the answer was right in every repetition.
bool measure(const Choice& choice, Kernel& kernel, const Way& way, std::uint32_t repetitions,
             examples::Progress& progress) {
  double seconds = std::numeric_limits<double>::infinity();
  Verdict verdict{0, 0};
  for (std::uint32_t i = 0; i < repetitions; ++i) {
    barrier();
    const double start = get_seconds();
    kernel.run(way);
    seconds = std::min(seconds, all_reduce(get_seconds() - start, maximum()));
    const Verdict now = kernel.check();
    verdict = {std::max(verdict.wrong, now.wrong), now.answer};
    progress.step();
  }
  const double rate = static_cast<double>(kernel.updates()) / seconds / 1e6;
  on_one([&] {
    progress.print([&] {
      std::printf("%-18s %-10s %9.6f s %9.3f million %s a second, answer %016" PRIx64 ", %" PRIu64
                  " wrong\n",
                  choice.name, kStyleNames[static_cast<std::size_t>(way.style)], seconds, rate,
                  choice.counts, verdict.answer, verdict.wrong);
    });
  });
  return verdict.wrong == 0;
}

int main(Args args) {
  Options options;
  if (!read_options(args, options)) return 0;
  const auto asked = [](const std::string& option, const char* name) {
    return option == "all" || option == name;
  };
  const std::uint64_t kernels = options.kernel == "all" ? std::size(kKernels) : 1;
  const std::uint64_t styles = options.style == "all" ? std::size(kStyleNames) : 1;
  examples::Progress progress(kernels * styles * options.repetitions);
  examples::Parcels parcels(128 << 10), answers(128 << 10);
  bool right = true;
  for (const Choice& choice : kKernels) {
    if (!asked(options.kernel, choice.name)) continue;
    const std::unique_ptr<Kernel> kernel = choice.make(options.problem);
    for (const Style style : {Style::kPlain, Style::kAggregator, Style::kRounds, Style::kRpc}) {
      if (!asked(options.style, kStyleNames[static_cast<std::size_t>(style)])) continue;
      right =
          measure(choice, *kernel, {style, &parcels, &answers}, options.repetitions, progress) &&
          right;
    }
  }
  return right || my_proc() != 0 ? 0 : 1;
}

}  // namespace
}  // namespace bale

int main(int argc, char** argv) { return splitc::run(argc, argv, &bale::main); }
