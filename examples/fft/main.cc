// The Fourier transform of n = 2^k complex points by the transpose method: the six-step algorithm
// of D. H. Bailey, "FFTs in external or hierarchical memory" (1990). The points are a matrix of
// about sqrt(n) rows, which are dealt out in blocks; every process transforms rows of its own, and
// three transposes, which move all points, bring the columns to where rows are.
//
//   ./run fft                                                every way to transpose
//   ./run -n 2 fft --points 65536 --version bulk_store       one
//
// Prints the time and the rate of the fastest repetition, and checks every version: by sums that
// follow the definition, by Parseval's identity and by the inverse transform, each within a bound
// on what rounding can do; and all versions have to give the same bits. Exit code 1 if one is
// wrong.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/command_line.h"
#include "examples/fft/check.h"
#include "examples/fft/transform.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace fft {
namespace {

using namespace splitc;

struct Options {
  std::size_t points = std::size_t{1} << 18;
  std::uint32_t repetitions = 3;
  std::uint64_t seed = 1;
  std::string version = "all";
};

// Of one version.
struct Result {
  double seconds;  // of the fastest repetition
  std::uint64_t checksum;
  double direct, parseval, inverse;  // the errors

  bool within(double tolerance) const {  // false also if one is not a number
    return direct <= tolerance && parseval <= tolerance && inverse <= tolerance;
  }
};

// The matrices of n points, and the transforms between them.
class Problem {
 public:
  explicit Problem(const Options& options)
      : options_(options),
        rows_(std::size_t{1} << (std::bit_width(options.points) - 1) / 2),
        columns_(options.points / rows_),
        points_(rows_, columns_),
        spectrum_(columns_, rows_),
        parcels_(rows_, columns_),
        forward_(rows_, columns_, Sign::kForward),
        inverse_(columns_, rows_, Sign::kInverse),
        check_(options.points, options.seed) {}

  Result run(const Version& version, examples::Progress& progress) {
    Result result{std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
    for (std::uint32_t i = 0; i < options_.repetitions; ++i) {
      fill();
      barrier();
      const double start = get_seconds();
      forward_(version, points_, spectrum_, parcels_);
      barrier();
      result.seconds = std::min(result.seconds, get_seconds() - start);
      progress.step();
    }
    result.seconds = all_reduce(result.seconds, maximum());
    result.checksum = checksum();
    result.direct = check_.direct_error(spectrum_);
    result.parseval = check_.parseval_error(spectrum_);
    inverse_(version, spectrum_, points_, parcels_);
    result.inverse = check_.inverse_error(points_);
    return result;
  }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  const Check& check() const noexcept { return check_; }

 private:
  void fill() {
    const std::size_t first = points_.my_rows().begin * columns_;
    const std::span<Complex> mine = points_.elements().mine();
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = point(options_.seed, first + i);
  }

  // Of the spectrum, in all processes.
  std::uint64_t checksum() const {
    const std::size_t first = spectrum_.my_rows().begin * rows_;
    const std::span<Complex> mine = spectrum_.elements().mine();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      sum += examples::mark(2 * (first + i), mine[i].real());
      sum += examples::mark(2 * (first + i) + 1, mine[i].imag());
    }
    return all_reduce(sum, std::plus());
  }

  Options options_;
  std::size_t rows_, columns_;
  Matrix points_, spectrum_;
  Parcels parcels_;
  Transform forward_, inverse_;
  Check check_;
};

void print_heading(const Options& options, const Problem& problem) {
  std::printf("%u processes, %zu points as %zu rows of %zu, seed %lu\n", procs(), options.points,
              problem.rows(), problem.columns(), options.seed);
  std::printf(
      "errors may be up to %.1e: of %zu frequencies by their sums, of Parseval's identity, ",
      problem.check().tolerance(), problem.check().frequencies());
  std::printf("of the inverse\n%-12s%10s%10s%10s%10s%10s  checksum\n", "version", "seconds",
              "GFlop/s", "sums", "Parseval", "inverse");
}

// Says how it went; `expected` is the checksum of the version before, if there is one. Returns
// whether that was right.
bool report(const Options& options, const Version& version, const Result& result, double tolerance,
            std::optional<std::uint64_t> expected) {
  const auto n = static_cast<double>(options.points);
  const bool same = !expected || *expected == result.checksum;
  const bool right = result.within(tolerance);
  if (my_proc() != 0) return right && same;
  std::printf("%-12s%10.6f%10.3f%10.1e%10.1e%10.1e  %016lx  ", version.name.data(), result.seconds,
              5e-9 * n * std::log2(n) / result.seconds, result.direct, result.parseval,
              result.inverse, result.checksum);
  if (!right) {
    std::printf("WRONG: an error is larger than rounding can make it\n");
  } else if (!same) {
    std::printf("WRONG: not the bits of the first version, whose checksum is %016lx\n", *expected);
  } else {
    std::printf(expected ? "right, the same bits\n" : "right\n");
  }
  std::fflush(stdout);  // the first process that exits with 1 ends the job
  return right && same;
}

int compare(const Options& options) {
  Problem problem(options);
  on_one([&] { print_heading(options, problem); });
  const std::size_t count = options.version == "all" ? versions().size() : 1;
  examples::Progress progress(count * options.repetitions);
  std::optional<std::uint64_t> checksum;
  bool right = true;
  for (const Version& version : versions()) {
    if (options.version != "all" && options.version != version.name) continue;
    const Result result = problem.run(version, progress);
    progress.print(
        [&] { right &= report(options, version, result, problem.check().tolerance(), checksum); });
    if (!checksum) checksum = result.checksum;
  }
  return right ? 0 : 1;
}

int program(Args args) {
  Options options;
  std::vector<std::string> names{"all"};
  for (const Version& version : versions()) names.emplace_back(version.name);

  examples::CommandLine line("The Fourier transform by the transpose method.", "fft");
  line.option("--points", options.points, "how many, a power of two")
      .range(std::size_t{1}, std::size_t{1} << 30);
  line.option("--version", options.version, "of the transposes: one of them, or all").one_of(names);
  line.option("--repetitions", options.repetitions, "of which the fastest counts")
      .range(1u, 1'000'000u);
  line.option("--seed", options.seed, "another seed, other points").not_negative();
  if (!line.parse(args)) return 0;
  if (!std::has_single_bit(options.points)) {
    throw std::runtime_error("fft: --points " + std::to_string(options.points) +
                             " is not a power of two; " +
                             std::to_string(std::bit_floor(options.points)) + " and " +
                             std::to_string(std::bit_ceil(options.points)) + " are the nearest");
  }
  return compare(options);
}

}  // namespace
}  // namespace fft

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return fft::program(args); });
}
