#include <algorithm>
#include <map>
#include <optional>

#include "examples/graph/graph.h"

namespace examples {
namespace {

using Words = std::vector<std::string_view>;

struct Package {
  std::string_view name;
  bool installed = true;  // a list of packages without Status has them all
  Words provides;
  std::vector<Words> needs;  // one alternative of each
};

constexpr std::string_view kSpace = " \t\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// The parts of `text` between separators, trimmed, without empty ones.
Words split(std::string_view text, char separator) {
  Words parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "python3:any (>= 3.9)": python3.
std::string_view name_of(std::string_view dependency) {
  return dependency.substr(0, dependency.find_first_of(" \t\n:(<["));
}

Words names_of(std::string_view list, char separator) {
  Words names = split(list, separator);
  std::ranges::transform(names, names.begin(), name_of);
  return names;
}

void take_field(Package& package, std::string_view name, std::string_view value) {
  if (name == "Package") package.name = trimmed(value);
  if (name == "Status") package.installed = trimmed(value).ends_with(" installed");
  if (name == "Provides") package.provides = names_of(value, ',');
  if (name == "Depends" || name == "Pre-Depends") {
    for (const std::string_view need : split(value, ',')) {
      package.needs.push_back(names_of(need, '|'));
    }
  }
}

// The field at the beginning of `text`, with the lines that continue it. An empty one ends a
// package.
std::string_view first_field(std::string_view text) {
  std::size_t end = text.find('\n');
  while (end != 0 && end < text.size() - 1 && (text[end + 1] == ' ' || text[end + 1] == '\t')) {
    end = text.find('\n', end + 1);
  }
  return text.substr(0, end);
}

std::vector<Package> installed_packages(std::string_view text) {
  std::vector<Package> packages;
  Package package;
  const auto end_package = [&] {
    if (package.installed && !package.name.empty()) packages.push_back(std::move(package));
    package = {};
  };
  while (!text.empty()) {
    const std::string_view field = first_field(text);
    const std::size_t colon = field.find(':');
    if (field.empty()) end_package();
    if (colon != std::string_view::npos) {
      take_field(package, field.substr(0, colon), field.substr(colon + 1));
    }
    text.remove_prefix(std::min(field.size() + 1, text.size()));
  }
  end_package();
  return packages;
}

// Finds the vertex that a dependency means.
class Resolver {
 public:
  Resolver(const Graph& graph, const std::vector<Package>& packages) : graph_(graph) {
    for (const Package& package : packages) {
      for (const std::string_view name : package.provides) {
        providers_.emplace(name, vertex_of(graph, package.name));  // the first one stays
      }
    }
  }

  std::optional<Vertex> find(const Words& alternatives) const {
    for (const std::string_view name : alternatives) {
      const Vertex vertex = vertex_of(graph_, name);
      if (vertex < graph_.names.size()) return vertex;
      const auto provider = providers_.find(name);
      if (provider != providers_.end()) return provider->second;
    }
    return std::nullopt;
  }

 private:
  const Graph& graph_;
  std::map<std::string_view, Vertex> providers_;
};

}  // namespace

Graph parse_packages(std::string_view text) {
  const std::vector<Package> packages = installed_packages(text);
  Graph graph;
  graph.vertices_are = "packages";
  graph.edges_are = "dependencies";
  for (const Package& package : packages) graph.names.emplace_back(package.name);
  make_set(graph.names);

  const Resolver resolver(graph, packages);
  for (const Package& package : packages) {
    const Vertex from = vertex_of(graph, package.name);
    for (const Words& need : package.needs) {
      const std::optional<Vertex> to = resolver.find(need);
      if (!to) ++graph.unmet;
      if (to && *to != from) graph.edges.push_back({from, *to});
    }
  }
  make_set(graph.edges);
  return graph;
}

}  // namespace examples
