#pragma once

#include <cstdint>
#include <vector>

#include "examples/graph/graph.h"

namespace components {

using examples::Edge;  // whose direction does not matter here
using examples::Graph;
using examples::Vertex;

// How many vertices have an edge to this one.
struct Rank {
  std::uint32_t dependents;
  Vertex vertex;

  // The most depended upon comes first; of equal ones the first by name.
  friend bool operator<(const Rank& a, const Rank& b) {
    return a.dependents != b.dependents ? a.dependents > b.dependents : a.vertex < b.vertex;
  }
  friend bool operator==(const Rank&, const Rank&) = default;
};

// What the program finds out about a graph.
struct Answer {
  std::vector<Vertex> labels;  // by vertex: the first one of its component
  std::uint64_t components = 0;
  std::uint64_t largest = 0;  // vertices in the largest component
  std::vector<Rank> top;      // the most depended upon, at most kTop, none with nothing

  friend bool operator==(const Answer&, const Answer&) = default;
};
inline constexpr std::size_t kTop = 10;

// Leaves the first kTop of `ranks`, in order, without those that nothing depends on.
void keep_top(std::vector<Rank>& ranks);

// By this process alone, with a union-find that shares nothing with solve().
Answer solve_serially(const Graph& graph);

// By all processes: process 0 passes the graph and gets the answer, what the others pass and get is
// of no meaning. Returns the seconds that it takes once every process has its edges. Collective.
double solve(const Graph& graph, Answer& answer);

}  // namespace components
