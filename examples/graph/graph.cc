#include "examples/graph/graph.h"

#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "examples/contents.h"

namespace examples {

Vertex vertex_of(const Graph& graph, std::string_view name) {
  const auto found = std::ranges::lower_bound(graph.names, name);
  if (found == graph.names.end() || *found != name) return static_cast<Vertex>(graph.names.size());
  return static_cast<Vertex>(found - graph.names.begin());
}

Graph read_graph(const std::string& path) {
  const std::string text = contents_of(path);
  try {
    return text.starts_with("Package:") ? parse_packages(text) : parse_edge_list(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

Graph parse_edge_list(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words.size() != 2) {
      throw std::runtime_error("line " + std::to_string(number) + " has " +
                               std::to_string(words.size()) +
                               " words; an edge is two, and a status file begins with Package:");
    }
    pairs.emplace_back(words[0], words[1]);
  }
  Graph graph;
  for (const auto& [from, to] : pairs) graph.names.insert(graph.names.end(), {from, to});
  make_set(graph.names);
  for (const auto& [from, to] : pairs) {
    if (from != to) graph.edges.push_back({vertex_of(graph, from), vertex_of(graph, to)});
  }
  make_set(graph.edges);
  return graph;
}

}  // namespace examples
