#include <cmath>
#include <cstdlib>

#include "examples/page_rank/ranks.h"

namespace page_rank {

std::vector<double> solve_serially(const Problem& problem, const Graph& graph) {
  const std::size_t n = graph.names.size();
  const auto count = static_cast<double>(n);
  std::vector<std::uint32_t> degree(n);
  for (const Edge& edge : graph.edges) ++degree[edge.from];
  std::vector<double> ranks(n, 1 / count), next(n);
  double change = 1;
  for (std::uint32_t i = 0; n > 0 && i < problem.iterations && change > problem.tolerance; ++i) {
    double idle = 0;  // of vertices without edges
    for (std::size_t v = 0; v < n; ++v) idle += degree[v] == 0 ? ranks[v] : 0;
    next.assign(n, (1 - problem.damping + problem.damping * idle) / count);
    for (const Edge& edge : graph.edges) {
      next[edge.to] += problem.damping * ranks[edge.from] / degree[edge.from];
    }
    change = 0;
    for (std::size_t v = 0; v < n; ++v) change += std::abs(next[v] - ranks[v]);
    ranks.swap(next);
  }
  return ranks;
}

}  // namespace page_rank
