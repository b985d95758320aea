// The PageRank of every package on this machine (Page, Brin, Motwani, Winograd: The PageRank
// Citation Ranking: Bringing Order to the Web, 1999), by the power iteration: the more a package is
// depended upon, and by packages that are themselves, the higher it ranks.
//
//   ./run page_rank              the packages that dpkg has installed
//   ./run page_rank FILE         another status file, or a list of edges: two words a line
//
// Vertices are dealt to the processes in turn, with the edges that begin at them. In every
// iteration a process adds up what its vertices give to each other vertex, and sends each process
// what is for it in one bulk store, which is counted where it lands. Process 0 compares the ranks
// with those that it finds alone. Exit code 1 if they are not the same, or their sum is not 1.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "examples/command_line.h"
#include "examples/page_rank/ranks.h"
#include "splitc/splitc.h"

namespace page_rank {
namespace {

using namespace splitc;

// What rounding may add to the sum of all ranks, or of all differences: one of each addition, and
// those of one iteration, which the later ones carry on.
double rounding(const Problem& problem, std::size_t vertices) {
  const double additions = static_cast<double>(vertices) + 100;
  return std::numeric_limits<double>::epsilon() * additions / (1 - problem.damping);
}

void print(const Problem& problem, const Graph& graph, const Answer& answer) {
  const Outcome& outcome = answer.outcome;
  const double edges = static_cast<double>(graph.edges.size()) * outcome.iterations;
  std::printf("%zu %s, %zu %s, damping %g\n", graph.names.size(), graph.vertices_are.data(),
              graph.edges.size(), graph.edges_are.data(), problem.damping);
  std::printf("%u iterations on %u processes in %.4f s: %.1f M edges/s\n", outcome.iterations,
              procs(), outcome.seconds, 1e-6 * edges / outcome.seconds);
  if (!answer.top.empty()) std::printf("highest ranks:\n");
  for (const Place& place : answer.top) {
    std::printf("%.8f  %s\n", static_cast<double>(place.rank) * kUnit,
                graph.names[place.vertex].c_str());
  }
}

// Prints whether the ranks are right, and returns it.
bool check(const Problem& problem, const Graph& graph, const Answer& answer) {
  if (!answer.outcome.converged) {
    std::printf("NOT converged in %u iterations; allow more by --iterations\n",
                answer.outcome.iterations);
    return false;
  }
  const std::vector<double> expected = solve_serially(problem, graph);
  double sum = 0, difference = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    sum += answer.ranks[v];
    difference += std::abs(answer.ranks[v] - expected[v]);
  }
  const double allowed = rounding(problem, expected.size());
  const double both = 2 * problem.error() + allowed;  // each of the two is as exact as asked for
  const bool same = difference <= both;
  const bool whole = expected.empty() || std::abs(sum - 1) <= allowed;
  std::printf("%s: all ranks together differ from the serial ones by %.1e (%.1e allowed)\n",
              same ? "verified" : "WRONG", difference, both);
  if (!expected.empty()) {
    std::printf("%s: their sum is %.12f\n", whole ? "verified" : "WRONG", sum);
  }
  return same && whole;
}

int program(Args args) {
  std::string file = "/var/lib/dpkg/status";
  Problem problem;
  examples::CommandLine line("PageRank of the vertices of a graph.", "page_rank");
  line.option("FILE", file, "dpkg's status file, or a list of edges").type_name("PATH");
  line.option("--damping", problem.damping, "how likely an edge is followed").range(0.0, 0.999);
  line.option("--tolerance", problem.tolerance, "changes of all ranks in the last iteration")
      .range(1e-13, 0.5);
  line.option("--iterations", problem.iterations, "at most").range(1u, 1'000'000u);
  if (!line.parse(args)) return 0;

  Graph graph;
  on_one([&] { graph = examples::read_graph(file); });
  const Answer answer = solve(problem, graph);
  bool right = true;
  on_one([&] {
    print(problem, graph, answer);
    right = check(problem, graph, answer);
  });
  return right ? 0 : 1;  // by process 0 alone, so that what it prints is out when the job is ended
}

}  // namespace
}  // namespace page_rank

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return page_rank::program(args); });
}
