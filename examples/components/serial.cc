#include <algorithm>
#include <numeric>

#include "examples/components/answer.h"

namespace components {

void keep_top(std::vector<Rank>& ranks) {
  const std::size_t count = std::min(kTop, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end());
  ranks.resize(count);
  std::erase_if(ranks, [](const Rank& rank) { return rank.dependents == 0; });
}

Answer solve_serially(const Graph& graph) {
  const std::size_t n = graph.names.size();
  std::vector<Vertex> parent(n);
  std::iota(parent.begin(), parent.end(), Vertex{0});
  const auto root = [&](Vertex v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  std::vector<Rank> ranks(n);
  for (Vertex v = 0; v < n; ++v) ranks[v] = {0, v};
  for (const Edge& edge : graph.edges) {
    const auto [low, high] = std::minmax({root(edge.from), root(edge.to)});
    parent[high] = low;
    ++ranks[edge.to].dependents;
  }

  Answer answer;
  std::vector<std::uint64_t> sizes(n);
  for (Vertex v = 0; v < n; ++v) {
    answer.labels.push_back(root(v));
    answer.largest = std::max(answer.largest, ++sizes[root(v)]);
    answer.components += root(v) == v;
  }
  keep_top(ranks);
  answer.top = std::move(ranks);
  return answer;
}

}  // namespace components
