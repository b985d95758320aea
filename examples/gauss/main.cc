// Linear equations by elimination: with a search for pivots this is a program of many short
// exchanges, by which "The influence of system calls and interrupts on the performances of a PC
// cluster using a Remote DMA communication primitive" compared two ways of communicating.
//
//   ./run -n 2 gauss --sizes 800 1200 1600 2000
//   SPLITC_WAIT=block ./run -n 2 --nodes 2 gauss --search each    # spin, yield or block
//
// Prints how many exchanges there were and the microseconds of one, and compares the unknowns with
// those that process 0 computes alone, bit by bit. Exit code 1 if one differs.

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "examples/application.h"
#include "examples/command_line.h"
#include "examples/gauss/problem.h"
#include "examples/gauss/solve.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace gauss {
namespace {

using namespace splitc;

struct Kind {
  std::string name;
  Search search;
};
const std::vector<Kind> kKinds = {{"none", Search::kNone},
                                  {"reduce", Search::kReduce},
                                  {"rows", Search::kRows},
                                  {"each", Search::kEach}};

bool equal(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// What all processes did.
struct Sum {
  std::uint64_t exchanges;
  double communication;  // seconds, of the process that took longest
};

void print_csv(const System& system, const Kind& kind, const Solution& mine, const Sum& all) {
  std::printf("%zu,%s,%lu,%.6f,%.6f,%016lx\n", system.size, kind.name.c_str(), all.exchanges,
              all.communication, mine.seconds, examples::checksum(mine.unknowns));
}

void print(const System& system, const Kind& kind, const Solution& mine, const Sum& all,
           bool right) {
  std::printf("%6zu  %-7s%12lu%12.4f%12.3f%10.3f  ", system.size, kind.name.c_str(), all.exchanges,
              all.communication, 1e6 * all.communication / static_cast<double>(all.exchanges),
              mine.seconds);
  if (!right) {
    std::printf("WRONG: not the unknowns of the serial elimination\n");
  } else if (mine.singular) {
    std::printf("no solution: a pivot is 0, as in the serial elimination\n");
  } else {
    std::printf("equal to the serial elimination, residual %.1e\n",
                residual(system, mine.unknowns));
  }
}

// Prints what all processes did. True if the result is right.
bool report(const System& system, const Kind& kind, const Solution& mine, bool csv) {
  const Sum all{all_reduce(mine.exchanges, std::plus()), all_reduce(mine.communication, maximum())};
  bool right = true;
  on_one([&] {
    const auto expected = solve_serially(system, kind.search);
    right = expected ? equal(*expected, mine.unknowns) : mine.singular;
    if (csv && right) {
      print_csv(system, kind, mine, all);
    } else {
      print(system, kind, mine, all, right);
    }
  });
  return all_bcast(right);
}

int program(Args args) {
  std::vector<std::size_t> sizes{200};
  System system;
  std::string chosen = "all";
  std::vector<std::string> names{"all"};
  for (const Kind& kind : kKinds) names.push_back(kind.name);

  examples::CommandLine line(
      "Linear equations by elimination, with and without a search for pivots.", "gauss");
  line.option("--sizes", sizes, "equations, of each run").range(1, 20'000);
  line.option("--search", chosen, "for the pivot: one of them, or all").one_of(names);
  line.option("--seed", system.seed, "another seed, other equations").not_negative();
  line.flag("--singular", system.singular, "equations that have no single solution");
  bool csv = false;
  line.flag("--csv", csv, "lines of SIZE,SEARCH,EXCHANGES,SECONDS,SECONDS IN ALL,CHECKSUM");
  if (!line.parse(args)) return 0;

  on_one([csv] {
    if (csv) return;
    std::printf("%6s  %-7s%12s%12s%12s%10s\n", "size", "search", "exchanges", "seconds", "us each",
                "in all");
  });
  std::uint64_t work = 0;
  for (const std::size_t size : sizes) work += Solver::work(size);
  examples::Progress progress(work * (chosen == "all" ? kKinds.size() : 1));
  bool right = true;
  for (const std::size_t size : sizes) {
    system.size = size;
    Solver solver(system);
    for (const Kind& kind : kKinds) {
      if (chosen != "all" && chosen != kind.name) continue;
      const Solution mine = solver.solve(kind.search, progress);
      progress.print([&] { right &= report(system, kind, mine, csv); });
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace gauss

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return gauss::program(args); });
}
