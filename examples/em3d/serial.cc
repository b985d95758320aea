#include "examples/em3d/graph.h"

namespace em3d {
namespace {

struct Edge {
  double weight;
  std::size_t other;  // the place of its value
};

// The edges of all nodes of `side`, node by node, process by process.
std::vector<Edge> edges_of(Side side, const Options& options, std::uint32_t procs) {
  const Graph graph(options, procs);
  const std::size_t other_side = side == Side::kElectric ? options.size : 0;
  std::vector<Edge> edges;
  edges.reserve(std::size_t{procs} * options.size * options.degree);
  for (std::uint32_t proc = 0; proc < procs; ++proc) {
    for (std::uint32_t index = 0; index < options.size; ++index) {
      for (std::uint32_t k = 0; k < options.degree; ++k) {
        const Neighbour end = graph.neighbour(side, proc, index, k);
        const std::size_t block = std::size_t{end.proc} * 2 * options.size;
        edges.push_back({end.weight, block + other_side + end.index});
      }
    }
  }
  return edges;
}

}  // namespace

std::vector<double> serial_sweep(const Options& options, std::uint32_t procs) {
  const Graph graph(options, procs);
  std::vector<double> values;
  for (std::uint32_t proc = 0; proc < procs; ++proc) {
    for (const Side side : {Side::kElectric, Side::kMagnetic}) {
      for (std::uint32_t i = 0; i < options.size; ++i) {
        values.push_back(graph.first_value(side, proc, i));
      }
    }
  }
  const std::vector<Edge> edges[] = {edges_of(Side::kElectric, options, procs),
                                     edges_of(Side::kMagnetic, options, procs)};
  for (std::uint32_t step = 0; step < options.steps; ++step) {
    for (const std::size_t side : {0, 1}) {
      const Edge* edge = edges[side].data();
      for (std::uint32_t proc = 0; proc < procs; ++proc) {
        double* const nodes = &values[(std::size_t{proc} * 2 + side) * options.size];
        for (std::uint32_t i = 0; i < options.size; ++i) {
          for (std::uint32_t k = 0; k < options.degree; ++k, ++edge) {
            nodes[i] = advance(nodes[i], edge->weight, values[edge->other]);
          }
        }
      }
    }
  }
  return values;
}

}  // namespace em3d
