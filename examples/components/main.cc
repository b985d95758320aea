// The connected components of the packages on this machine, and those most depended upon.
//
//   ./run components             the packages that dpkg has installed
//   ./run components FILE        another status file, or a list of edges: two words a line
//
// All processes work it out together; process 0 compares with what it works out alone. Exit code 1
// if the two differ.

#include <cstdio>
#include <string>

#include "examples/command_line.h"
#include "examples/components/answer.h"
#include "examples/graph/graph.h"
#include "splitc/splitc.h"

namespace components {
namespace {

using namespace splitc;

void print(const Graph& graph, const Answer& answer, double seconds) {
  std::printf("%zu %s, %zu %s", graph.names.size(), graph.vertices_are.data(), graph.edges.size(),
              graph.edges_are.data());
  if (graph.unmet > 0) std::printf(" and %lu unmet ones", graph.unmet);
  std::printf("\n%lu components, the largest of %lu %s\n", answer.components, answer.largest,
              graph.vertices_are.data());
  if (!answer.top.empty()) std::printf("most depended upon:\n");
  for (const Rank& rank : answer.top) {
    std::printf("%6u  %s\n", rank.dependents, graph.names[rank.vertex].c_str());
  }
  std::printf("%u processes, %.6f seconds\n", procs(), seconds);
}

int program(Args args) {
  std::string file = "/var/lib/dpkg/status";
  examples::CommandLine line("Connected components of a dependency graph.", "components");
  line.option("FILE", file, "dpkg's status file, or a list of edges").type_name("PATH");
  if (!line.parse(args)) return 0;

  Graph graph;
  on_one([&] { graph = examples::read_graph(file); });
  Answer answer;
  const double seconds = solve(graph, answer);
  bool equal = true;
  on_one([&] {
    print(graph, answer, seconds);
    equal = answer == solve_serially(graph);
    std::printf(equal ? "equal to the serial answer\n" : "NOT equal to the serial answer\n");
  });
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace components

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return components::program(args); });
}
