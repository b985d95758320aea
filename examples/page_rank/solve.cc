#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "examples/graph/collect.h"
#include "examples/page_rank/flow.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace page_rank {

using namespace splitc;

namespace {

// What all processes need to know of the ranks of all vertices.
struct Sums {
  double change = 0;  // since the iteration before
  double idle = 0;    // of vertices without edges
};

Sums reduce(const Sums& mine) {
  return all_reduce(mine, [](const Sums& a, const Sums& b) {
    return Sums{a.change + b.change, a.idle + b.idle};
  });
}

// Gives each process the edges that begin at its vertices. Process 0 has all, in order. Collective.
std::vector<Edge> deal(const Graph& graph, const Vertices& vertices) {
  std::vector<Edge> edges = graph.edges;
  std::vector<std::size_t> counts(procs());
  for (const Edge& edge : edges) ++counts[vertices.owner(edge.from)];
  std::ranges::stable_sort(edges, {}, [&](const Edge& edge) { return vertices.owner(edge.from); });
  return all_to_all_varying(std::span(edges), std::span<const std::size_t>(counts)).all();
}

// How many iterations it takes: each changes the ranks by `damping` of what the one before did.
std::uint64_t expected_iterations(const Problem& problem) {
  if (problem.damping == 0) return 1;
  const double count = std::ceil(std::log(problem.tolerance) / std::log(problem.damping));
  return std::min<std::uint64_t>(problem.iterations, static_cast<std::uint64_t>(count));
}

// Iterates until the ranks change no more. Collective.
Outcome iterate(const Problem& problem, const Vertices& vertices, Flow& flow) {
  const auto count = static_cast<double>(vertices.size());
  const std::span<double> ranks = vertices.mine();
  std::vector<double> inflow(ranks.size());
  const auto idle_of = [&](std::size_t v) { return flow.degree(v) == 0 ? ranks[v] : 0; };
  std::ranges::fill(ranks, 1 / count);
  Sums first;
  for (std::size_t v = 0; v < ranks.size(); ++v) first.idle += idle_of(v);

  const double start = get_seconds();
  Sums sums = reduce(first);
  Outcome outcome;
  examples::Progress progress(expected_iterations(problem));
  while (!outcome.converged && outcome.iterations < problem.iterations) {
    flow.carry(ranks, inflow);
    const double base = (1 - problem.damping + problem.damping * sums.idle) / count;
    Sums mine;
    for (std::size_t v = 0; v < ranks.size(); ++v) {
      const double rank = base + problem.damping * inflow[v];
      mine.change += std::abs(rank - ranks[v]);
      ranks[v] = rank;
      mine.idle += idle_of(v);
    }
    sums = reduce(mine);
    outcome.converged = sums.change <= problem.tolerance;
    ++outcome.iterations;
    progress.step();
  }
  outcome.seconds = get_seconds() - start;
  return outcome;
}

void keep_top(std::vector<Place>& places) {
  const std::size_t count = std::min(kTop, places.size());
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count),
                    places.end());
  places.resize(count);
}

// The highest ranks, for process 0. Collective.
std::vector<Place> find_top(const Vertices& vertices) {
  std::vector<Place> own;
  for (const std::size_t v : vertices.my_indices()) {
    const double rank = vertices.mine()[vertices.local(v)];
    own.push_back({std::llround(rank / kUnit), static_cast<Vertex>(v)});
  }
  keep_top(own);
  std::vector<std::size_t> counts(procs());
  counts[0] = own.size();
  std::vector<Place> all =
      all_to_all_varying(std::span(own), std::span<const std::size_t>(counts)).all();
  keep_top(all);
  return all;
}

}  // namespace

Answer solve(const Problem& problem, const Graph& graph) {
  const Vertices vertices(all_bcast(graph.names.size()));
  Flow flow(vertices, deal(graph, vertices));
  Answer answer;
  answer.outcome = iterate(problem, vertices, flow);
  answer.top = find_top(vertices);
  on_one([&] { answer.ranks = examples::collect(vertices); });
  return answer;
}

}  // namespace page_rank
