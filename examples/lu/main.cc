// Solves a dense system of linear equations by LU factorization with partial pivoting, as
// High-Performance Linpack does: blocked and right-looking (Petitet, Whaley, Dongarra, Cleary,
// "HPL", netlib.org/benchmark/hpl). The columns are dealt out to the processes in blocks, in turn,
// so that a pivot is found and its row exchanged without communication; a factored block of
// columns, a panel, is stored in the memory of all others, which take it in while the next one is
// made.
//
//   ./run lu                                       1000 equations
//   ./run -n 2 lu --sizes 500 1000 2000 --block 64
//
// Prints the time and the rate, and checks the residual, scaled as there; of small systems also the
// pivots, against those of the plain algorithm on process 0. Exit code 1 if one is wrong.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/application.h"
#include "examples/command_line.h"
#include "examples/lu/solver.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace lu {
namespace {

using namespace splitc;

constexpr double kLargestResidual = 16;   // of a solution that HPL calls right
constexpr std::size_t kSerialSize = 400;  // up to which process 0 computes the pivots, too

// Floating-point operations of a system, as HPL counts them.
double operations(std::size_t size) {
  const auto n = static_cast<double>(size);
  return n * n * (2 * n / 3 + 1.5);
}

// Whether the pivots are those of the plain algorithm, or there are too many to say so.
bool right_pivots(const System& system, const Solution& solution) {
  return system.size > kSerialSize || solution.pivots == serial_pivots(system);
}

void print_verdict(const System& system, const Solution& solution, bool pivots, bool unknowns) {
  const char* const as_serial =
      system.size > kSerialSize ? "" : ", with the pivots of the serial algorithm";
  if (!pivots) {
    std::printf("WRONG: not the pivots of the serial algorithm\n");
  } else if (!unknowns) {
    std::printf("WRONG: the residual has to be less than %g\n", kLargestResidual);
  } else if (solution.unknowns.empty()) {
    const auto none = std::ranges::find(solution.pivots, kNoPivot) - solution.pivots.begin();
    std::printf("no solution: column %td has no pivot%s\n", none, as_serial);
  } else {
    std::printf("right%s\n", as_serial);
  }
  std::fflush(stdout);  // the first process that exits with 1 ends the job
}

// Prints how it went; returns whether that was right, everywhere.
bool report(const System& system, const Solution& solution) {
  const double seconds = all_reduce(solution.seconds, maximum());
  const bool solved = !solution.unknowns.empty();
  const double residual = solved ? scaled_residual(system, solution.unknowns) : 0;
  bool right = solved == system.has_solution() && residual < kLargestResidual;
  on_one([&] {
    std::printf("%6zu%12.6f%10.3f%10.2e  %016lx  ", system.size, seconds,
                1e-9 * operations(system.size) / seconds, residual,
                examples::checksum(solution.unknowns));
    const bool pivots = right_pivots(system, solution);
    print_verdict(system, solution, pivots, right);
    right &= pivots;
  });
  return all_bcast(right);
}

int program(Args args) {
  std::vector<std::size_t> sizes{1000};
  std::size_t block = 32;
  System system;

  examples::CommandLine line("Linear equations by LU factorization with partial pivoting.", "lu");
  line.option("--sizes", sizes, "equations, of each run").range(1, 20'000);
  line.option("--block", block, "columns of a block").range(1, 512);
  line.option("--seed", system.seed, "another seed, other equations").not_negative();
  line.flag("--singular", system.singular, "equations that have no single solution");
  if (!line.parse(args)) return 0;

  on_one([&] {
    std::printf("%u processes, columns in blocks of %zu, seed %lu\n", procs(), block, system.seed);
    std::printf("%6s%12s%10s%10s  checksum\n", "size", "seconds", "GFlop/s", "residual");
  });
  std::uint64_t work = 0;
  for (const std::size_t size : sizes) work += Solver::work(size, block);
  examples::Progress progress(work);
  bool right = true;
  for (const std::size_t size : sizes) {
    system.size = size;
    Solver solver(system, block);
    const Solution solution = solver.solve(progress);
    progress.print([&] { right &= report(system, solution); });
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace lu

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return lu::program(args); });
}
