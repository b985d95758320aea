// What the program finds out about a graph, by all processes and by one alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/graph/graph.h"

namespace page_rank {

using examples::Edge;
using examples::Graph;
using examples::Vertex;

// A surfer follows an edge of the vertex where it is with the probability `damping`, each edge
// being equally likely. Otherwise, and at a vertex without edges, it goes to any vertex. The rank
// of a vertex is how likely the surfer is there after very many steps.
struct Problem {
  double damping = 0.85;
  double tolerance = 1e-10;         // of the changes of all ranks in the last iteration, together
  std::uint32_t iterations = 1000;  // at most

  // How far ranks can be from the true ones, all differences together, after an iteration that
  // changed them by `tolerance`: each further one would change them by `damping` of the one before.
  double error() const noexcept { return tolerance * damping / (1 - damping); }
};

struct Outcome {
  std::uint32_t iterations = 0;
  bool converged = false;
  double seconds = 0;
};

// A vertex and its rank, as it is printed: in units of the eighth decimal, so that ranks that
// differ by no more than rounding count as equal.
struct Place {
  std::int64_t rank;
  Vertex vertex;

  // The higher rank comes first; of equal ones the first by name.
  friend bool operator<(const Place& a, const Place& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.vertex < b.vertex;
  }
};
inline constexpr double kUnit = 1e-8;
inline constexpr std::size_t kTop = 10;

struct Answer {
  Outcome outcome;
  std::vector<double> ranks;  // by vertex
  std::vector<Place> top;     // the kTop highest, or all if there are fewer
};

// By all processes: process 0 passes the graph and gets the answer; the others pass an empty one,
// and get the outcome. Collective.
Answer solve(const Problem& problem, const Graph& graph);

// By this process alone, edge by edge.
std::vector<double> solve_serially(const Problem& problem, const Graph& graph);

}  // namespace page_rank
