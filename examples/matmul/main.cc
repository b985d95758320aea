// The product of two dense matrices, C = A B, on a grid of processes, in four versions that wait
// less and less for one another:
//
//   read      fetches each block of A and B when it multiplies it (blocking bulk_read)
//   get       fetches the next blocks while it multiplies (split-phase bulk_get)
//   cannon    passes the blocks on from neighbour to neighbour (bulk_store, counted where it lands)
//   channel   the same by put channels, which are set up once
//
//   ./run matmul                                            all versions
//   ./run -n 4 --nodes 2 matmul --size 1000 --version get   one
//
// Prints the time, the rate, and how long a process was in calls that communicate, without those in
// the middle of a multiplication that answer others. Checks every product: up to 200 rows against
// three plain loops on process 0, and any with random vectors. Exit code 1 if one is wrong.
//
// The grid is the most square one of all processes: 2 x 2 of 4, 3 x 2 of 6, 5 x 1 of 5; cannon.cc
// says what becomes of Cannon's algorithm where it is not square.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "examples/command_line.h"
#include "examples/matmul/versions.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace matmul {
namespace {

using namespace splitc;

constexpr Version kVersions[] = {
    {"read", "fetches each block, and waits for it", by_reading},
    {"get", "fetches the next blocks meanwhile", by_getting},
    {"cannon", "blocks go round, by counted stores", by_cannon_with_stores},
    {"channel", "blocks go round, by put channels", by_cannon_with_channels},
};

constexpr std::size_t kSerialSize = 200;  // up to which process 0 multiplies alone, too
constexpr std::size_t kMaxSize = 20'000;  // for which sums are exact; 3.2 GB for one matrix

struct Options {
  std::size_t size = 512;
  std::uint32_t repetitions = 3;
  std::string version = "all";
};

// Of the fastest repetition.
struct Result {
  double seconds = std::numeric_limits<double>::infinity();
  double waited = 0;  // seconds of a process, on average
  std::uint64_t checksum = 0;
  bool right = true;  // in all repetitions
};

Result measure(const Version& version, Problem& problem, std::uint32_t repetitions,
               examples::Progress& progress) {
  const std::function<void()> run = version.prepare(problem);
  Result best;
  for (std::uint32_t i = 0; i < repetitions; ++i) {
    problem.clear();
    barrier();
    const double start = get_seconds();
    run();
    barrier();
    const double seconds = all_reduce(get_seconds() - start, maximum());
    const double waited = all_reduce(problem.waited(), std::plus()) / procs();
    if (seconds < best.seconds) best.seconds = seconds, best.waited = waited;

    const std::uint64_t checksum = all_reduce(problem.checksum(), std::plus());
    const bool wrong = !problem.passes_check() || (i > 0 && checksum != best.checksum);
    best.right &= all_reduce(wrong ? 1 : 0, std::plus()) == 0;
    best.checksum = checksum;
    progress.step();
  }
  return best;
}

// Prints how it went; returns whether that was right.
bool report(const Version& version, const Result& result, std::size_t n, std::uint64_t expected) {
  const bool serial = n <= kSerialSize;
  const bool right = result.right && (!serial || result.checksum == expected);
  const auto rows = static_cast<double>(n);
  std::printf("%-8s%12.6f%10.3f%12.6f  %016lx  %s\n", version.name.data(), result.seconds,
              2e-9 * rows * rows * rows / result.seconds, result.waited, result.checksum,
              !right   ? "WRONG"
              : serial ? "equal to the serial product"
                       : "right by Freivalds' check");
  return right;
}

int compare(const Options& options) {
  const Grid grid(options.size);
  Problem problem(grid);
  std::uint64_t expected = 0;
  on_one([&] {
    std::printf("%zu x %zu numbers, %u processes as %u x %u, the fastest of %u repetitions\n",
                grid.n, grid.n, procs(), grid.height, grid.width, options.repetitions);
    std::printf("%-8s%12s%10s%12s  checksum\n", "version", "seconds", "GFLOP/s", "waited");
    if (grid.n <= kSerialSize) expected = serial_checksum(grid.n);
  });
  int wrong = 0;
  const std::size_t count = options.version == "all" ? std::size(kVersions) : 1;
  examples::Progress progress(count * options.repetitions);
  for (const Version& version : kVersions) {
    if (options.version != "all" && options.version != version.name) continue;
    const Result result = measure(version, problem, options.repetitions, progress);
    on_one([&] { progress.print([&] { wrong += !report(version, result, grid.n, expected); }); });
  }
  return wrong == 0 ? 0 : 1;  // on process 0
}

int program(Args args) {
  Options options;
  std::vector<std::string> names{"all"};
  std::string sentences = "one of them, or all:";
  for (const Version& version : kVersions) {
    names.emplace_back(version.name);
    sentences += std::string("\n") + version.name.data() + ": " + version.sentence.data();
  }
  examples::CommandLine line(
      "The product of two matrices on a grid of processes, in four versions.", "matmul");
  line.option("--size", options.size, "rows and columns of the matrices")
      .range(std::size_t{1}, kMaxSize);
  line.option("--repetitions", options.repetitions, "of each version; the fastest counts")
      .range(1u, 1'000'000u);
  line.option("--version", options.version, sentences).one_of(names);
  if (!line.parse(args)) return 0;
  return compare(options);
}

}  // namespace
}  // namespace matmul

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return matmul::program(args); });
}
