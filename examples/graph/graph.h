// Graphs that programs read: of packages and what they depend on, and any others as lists of edges.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

using Vertex = std::uint32_t;

// `from` depends on `to`.
struct Edge {
  Vertex from;
  Vertex to;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

struct Graph {
  std::string_view vertices_are = "vertices";
  std::string_view edges_are = "edges";
  std::vector<std::string> names;  // of the vertices, which are numbered in this order: sorted
  std::vector<Edge> edges;         // each once, none from a vertex to itself
  std::uint64_t unmet = 0;         // dependencies on nothing that is there
};

// The graph in the file at `path`: dpkg's status file if it begins with "Package:", otherwise a
// list of edges. Throws std::runtime_error, naming file, cause and line.
Graph read_graph(const std::string& path);

// The packages that are installed, and what they depend on.
//
// Depends and Pre-Depends count, Recommends does not: a system is complete without. Of alternatives
// (a | b) the first that is there counts. A virtual package stands for the first package that
// provides it. Versions are not compared: dpkg has done so. A name is one vertex, whatever its
// architectures.
Graph parse_packages(std::string_view text);

// Two words a line, `from to`; a line of "a a" is a vertex without an edge. Empty lines and lines
// that begin with # say nothing.
Graph parse_edge_list(std::string_view text);

// The number of the vertex with that name, names.size() if there is none.
Vertex vertex_of(const Graph& graph, std::string_view name);

// Sorts, and leaves one of equal ones.
template <class T>
void make_set(std::vector<T>& elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
}

}  // namespace examples
