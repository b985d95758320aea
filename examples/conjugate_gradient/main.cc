// Solves A x = b for a sparse symmetric positive definite matrix A by conjugate gradients
// (Hestenes, Stiefel: Methods of Conjugate Gradients for Solving Linear Systems, 1952), where every
// process has a block of rows, compressed, and of the elements of every vector. Which elements its
// rows need from other processes it finds out once (Saltz, Crowley, Mirchandaney, Berryman:
// Run-Time Scheduling and Execution of Loops on Message Passing Machines, 1990); in every iteration
// it gets exactly these, by split-phase reads, by one bulk store from each owner, or by persistent
// channels.
//
//   ./run conjugate_gradient                                Poisson's equation on a square
//   ./run -n 2 conjugate_gradient --dimensions 3 --size 40 --version channel
//   ./run conjugate_gradient examples/data/includes.mtx    a Matrix Market file
//
// Prints the seconds and the rate of each version, and compares the unknowns with those of process
// 0 alone, bit by bit. These are put into the equations, and compared with those of a dense
// factorization if the matrix is small. Exit code 1 if unknowns are wrong, or not as exact as
// asked. --csv prints a checksum of the unknowns, and all that only where it is wrong.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/application.h"
#include "examples/command_line.h"
#include "examples/conjugate_gradient/halo.h"
#include "examples/conjugate_gradient/matrix.h"
#include "examples/conjugate_gradient/problem.h"
#include "examples/conjugate_gradient/rows.h"
#include "examples/conjugate_gradient/solve.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace conjugate_gradient {
namespace {

using namespace splitc;

constexpr std::uint64_t kMaxPoints = 20'000'000;

struct Options {
  std::string file;  // empty: none
  Grid grid;
  Problem problem;
  std::string version = "all";
  std::uint32_t repetitions = 1;
  bool csv = false;
};

// This process's rows; on process 0 also the whole matrix. Sets the size of the problem.
struct Input {
  std::vector<Entry> own;
  Matrix whole;
};
Input make_input(Options& options) {
  Input input;
  const bool from_file = !options.file.empty();
  on_one([&] {
    const auto points = static_cast<std::uint32_t>(options.grid.points());
    input.whole =
        from_file ? read_matrix(options.file) : Matrix{points, poisson(options.grid, 0, points)};
  });
  options.problem.size = all_bcast(input.whole.size);
  const distribution blocks = blocks_of(options.problem.size);
  if (from_file) {
    input.own = deal(input.whole.entries, blocks);
  } else if (const std::size_t own = blocks.size_on(my_proc()); own > 0) {
    const auto first = static_cast<std::uint32_t>(blocks.global(my_proc(), 0));
    input.own = poisson(options.grid, first, first + static_cast<std::uint32_t>(own));
  }
  return input;
}

void print_heading(const Options& options, const Matrix& matrix, std::uint64_t ghosts) {
  std::printf("%u processes, %u unknowns, %zu entries, %lu elements from other processes\n",
              procs(), matrix.size, matrix.entries.size(), ghosts);
  std::printf("unknowns from seed %lu, residual at most %g\n", options.problem.seed,
              options.problem.tolerance);
  std::printf("%-8s%12s%12s%10s\n", "version", "iterations", "seconds", "GFlop/s");
}

// Prints how one version went. True if its unknowns are those of the serial solution.
bool report(const Version& version, const Outcome& outcome, const Matrix& matrix,
            const std::vector<double>& unknowns, const SerialSolution& serial, bool csv) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    wrong += std::bit_cast<std::uint64_t>(unknowns[i]) !=
             std::bit_cast<std::uint64_t>(serial.unknowns[i]);
  }
  if (csv && wrong == 0) {
    std::printf("%s,%u,%.9f,%016lx\n", version.name.data(), outcome.iterations, outcome.seconds,
                examples::checksum(unknowns));
    return true;
  }
  // Two products, of matrix and vector; three of vectors; and three sums of vectors.
  const double work = 2.0 * static_cast<double>(matrix.entries.size()) + 10.0 * matrix.size;
  std::printf("%-8s%12u%12.4f%10.3f  ", version.name.data(), outcome.iterations, outcome.seconds,
              1e-9 * outcome.iterations * work / outcome.seconds);
  if (wrong == 0) {
    std::printf("equal to the serial solution\n");
  } else {
    std::printf("WRONG: %zu unknowns are not those of the serial solution\n", wrong);
  }
  return wrong == 0;
}

// Prints what is found out about the unknowns of the serial solution; with `csv` only if they are
// wrong. True if they are right.
bool report(const Problem& problem, const Matrix& matrix, const SerialSolution& serial, bool csv) {
  if (serial.outcome.residual > problem.tolerance) {
    std::printf(
        "NOT SOLVED: the residual is %.1e after %u iterations; allow more by --iterations\n",
        serial.outcome.residual, serial.outcome.iterations);
    return false;
  }
  const Examination found = examine(problem, matrix, serial.unknowns);
  if (csv && found.right()) return true;
  std::printf("%s: of the serial solution |b - A x| is %.1e |b|",
              found.right() ? "verified" : "WRONG", found.residual);
  if (found.difference) {
    std::printf(", x differs from that of a dense Cholesky factorization by %.1e (%.1e allowed)",
                *found.difference, found.difference_limit);
  }
  std::printf("\n");
  return found.right();
}

int solve(Options& options) {
  const Input input = make_input(options);
  Solver solver(options.problem, input.own);
  const std::uint64_t ghosts = solver.all_ghosts();
  SerialSolution serial;
  on_one([&] {
    if (!options.csv) print_heading(options, input.whole, ghosts);
    serial = solve_serially(options.problem, input.whole, blocks_of(input.whole.size).block());
  });
  // Every version makes the iterations of the serial solution, which process 0 knows.
  const std::size_t count = options.version == "all" ? versions().size() : 1;
  examples::Progress progress(count * options.repetitions * serial.outcome.iterations);
  bool right = true;
  for (const Version& version : versions()) {
    if (options.version != "all" && options.version != version.name) continue;
    Outcome outcome = solver.solve(version, progress);
    for (std::uint32_t i = 1; i < options.repetitions; ++i) {
      outcome.seconds = std::min(outcome.seconds, solver.solve(version, progress).seconds);
    }
    on_one([&] {
      progress.print([&] {
        right &= report(version, outcome, input.whole, solver.unknowns(), serial, options.csv);
      });
    });
    barrier();  // process 0 has read them
  }
  on_one([&] { right &= report(options.problem, input.whole, serial, options.csv); });
  return right ? 0 : 1;  // by process 0 alone, so that what it prints is out when the job is ended
}

int program(Args args) {
  Options options;
  Problem& problem = options.problem;
  std::vector<std::string> names{"all"};
  for (const Version& version : versions()) names.emplace_back(version.name);

  examples::CommandLine line(
      "Sparse linear equations by conjugate gradients, with three kinds of exchange.",
      "conjugate_gradient");
  const auto file =
      line.option("FILE", options.file, "a matrix in the format Matrix Market").type_name("PATH");
  line.option("--size", options.grid.side, "without FILE: points along a dimension of the grid")
      .range(1u, 1'000'000u)
      .excludes(file);
  line.option("--dimensions", options.grid.dimensions, "of the grid: a square, or a cube")
      .range(2u, 3u)
      .excludes(file);
  line.option("--tolerance", problem.tolerance, "the residual, as a part of the right side")
      .range(1e-14, 0.5);
  line.option("--iterations", problem.iterations, "at most").range(1u, 100'000'000u);
  line.option("--seed", problem.seed, "another seed, other unknowns").not_negative();
  line.option("--version", options.version, "one of them, or all").one_of(names);
  line.option("--repetitions", options.repetitions, "of each; the fastest counts")
      .range(1u, 1'000'000u);
  line.flag("--csv", options.csv, "lines of VERSION,ITERATIONS,SECONDS,CHECKSUM");
  if (!line.parse(args)) return 0;
  if (options.grid.points() > kMaxPoints) {
    throw std::runtime_error("conjugate_gradient: --size " + std::to_string(options.grid.side) +
                             " in " + std::to_string(options.grid.dimensions) +
                             " dimensions is more than " + std::to_string(kMaxPoints) +
                             " points; make it smaller");
  }
  return solve(options);
}

}  // namespace
}  // namespace conjugate_gradient

int main(int argc, char** argv) {
  return splitc::run(argc, argv,
                     [](splitc::Args args) { return conjugate_gradient::program(args); });
}
