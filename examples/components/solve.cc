#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>

#include "examples/components/answer.h"
#include "examples/graph/collect.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

// Vertices are dealt to the processes in turn, edges in blocks; an edge seldom lies where its ends
// do. Components are trees of vertices that point to vertices before them. Every process hooks the
// trees at the ends of its edges together, all at the same time: a root that another process has
// hooked meanwhile is no root any more, which cmp_and_swap tells.

namespace components {
namespace {

using namespace splitc;

using Vertices = spread_array<Vertex>;

// The root of v's tree. On the way every other vertex is pointed to its grandparent, so the next to
// go here has half as far; if another process was faster, nothing is lost.
Vertex root(const Vertices& parent, Vertex v) {
  for (;;) {
    const Vertex above = parent[v];
    if (above == v) return v;
    const Vertex next = parent[above];
    if (next != above) cmp_and_swap(parent[v], above, next);
    v = next;
  }
}

// Makes one tree of those of a and b: the larger root gets the smaller one as its parent, so that
// there are no cycles, and the root of a component is its first vertex in the end.
void hook(const Vertices& parent, Vertex a, Vertex b) {
  for (;;) {
    const auto [low, high] = std::minmax({root(parent, a), root(parent, b)});
    if (low == high || cmp_and_swap(parent[high], high, low) == high) return;
  }
}

// Labels every vertex with the first one of its component. Each edge is a step. Collective.
void find_components(const Vertices& label, std::span<const Edge> edges,
                     examples::Progress& progress) {
  for (const std::size_t v : label.my_indices()) label[v] = static_cast<Vertex>(v);
  barrier();
  for (const Edge& edge : edges) {
    hook(label, edge.from, edge.to);
    progress.step();
  }
  barrier();
  for (const std::size_t v : label.my_indices()) label[v] = root(label, static_cast<Vertex>(v));
  barrier();
}

// Vertices in the largest component. Collective.
std::uint64_t find_largest(const Vertices& label) {
  std::unordered_map<Vertex, std::uint64_t> mine;
  for (const Vertex first : label.mine()) ++mine[first];
  const spread_array<std::uint64_t> sizes(label.size());  // by the first vertex
  for (const auto& [first, count] : mine) fetch_and_add(sizes[first], count);
  barrier();
  const auto own = sizes.mine();
  return all_reduce(own.empty() ? 0 : std::ranges::max(own), maximum());
}

// The most depended upon, for process 0. Each edge is a step. Collective.
std::vector<Rank> find_top(std::size_t vertices, std::span<const Edge> edges,
                           examples::Progress& progress) {
  const spread_array<std::uint32_t> dependents(vertices);
  for (const Edge& edge : edges) {
    fetch_and_add(dependents[edge.to], 1);
    progress.step();
  }
  barrier();
  std::vector<Rank> own;
  for (const std::size_t v : dependents.my_indices()) {
    own.push_back({dependents[v], static_cast<Vertex>(v)});
  }
  keep_top(own);
  own.resize(kTop);  // the same number from everybody
  std::vector<Rank> all(kTop * procs());
  all_gather_to_one(std::span<const Rank>(own), std::span(all));
  keep_top(all);
  return all;
}

}  // namespace

double solve(const Graph& graph, Answer& answer) {
  const Vertices label(all_bcast(graph.names.size()));
  const spread_array<Edge> edges(all_bcast(graph.edges.size()), blocked);
  on_one([&] {
    std::span<const Edge> rest(graph.edges);
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      bulk_write(edges.on(proc), rest.first(edges.size_on(proc)));
      rest = rest.subspan(edges.size_on(proc));
    }
  });
  barrier();

  examples::Progress progress(2 * edges.mine().size());
  const double start = get_seconds();
  find_components(label, edges.mine(), progress);
  std::uint64_t roots = 0;
  for (const std::size_t v : label.my_indices()) roots += label[v] == v;
  answer.components = all_reduce(roots, std::plus());
  answer.largest = find_largest(label);
  answer.top = find_top(label.size(), edges.mine(), progress);
  const double seconds = get_seconds() - start;
  on_one([&] { answer.labels = examples::collect(label); });
  return all_reduce(seconds, maximum());
}

}  // namespace components
