// The nodes of a tree that nobody can divide beforehand: Unbalanced Tree Search (Olivier et al.,
// LCPC 2006), in which what is below a node is known only by going there, and subtrees that look
// alike differ a thousandfold in size.
//
//   ./run unbalanced_tree                        about 125,000 nodes
//   ./run -n 8 unbalanced_tree --root 20000      ten times as many
//
// Every node but the root has 8 children or, mostly, none. Process 0 begins with the root; the
// others steal. It compares with the tree that it walks alone. Exit code 1 if the two differ.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "examples/command_line.h"
#include "examples/containers/work_queue.h"
#include "examples/random.h"
#include "splitc/splitc.h"

namespace unbalanced_tree {
namespace {

using namespace splitc;

struct Tree {
  std::uint64_t seed = 1;
  std::uint64_t root = 2000;  // children of the root
  double odds = 0.123;        // of any other node to have 8; from 1/8 on the tree may be endless
};
struct Node {
  std::uint64_t state;  // random bits, by which all below it is determined
  std::uint32_t depth;
};
struct Count {
  std::uint64_t nodes = 0;
  std::uint64_t depth = 0;   // the greatest
  std::uint64_t states = 0;  // the sum
  friend bool operator==(const Count&, const Count&) = default;
};

// Counts a node, and calls f(child) for each of its children.
template <class F>
void visit(const Tree& tree, const Node& node, Count& count, F f) {
  ++count.nodes;
  count.depth = std::max<std::uint64_t>(count.depth, node.depth);
  count.states += node.state;
  const std::uint64_t inner = examples::fraction(node.state) < tree.odds ? 8 : 0;
  const std::uint64_t children = node.depth == 0 ? tree.root : inner;
  for (std::uint64_t i = 1; i <= children; ++i) {
    f(Node{examples::mix(node.state + i), node.depth + 1});
  }
}
Node root_of(const Tree& tree) { return {examples::mix(tree.seed), 0}; }

// By this process alone.
Count count_serially(const Tree& tree) {
  Count count;
  std::vector<Node> open{root_of(tree)};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    visit(tree, node, count, [&](const Node& child) { open.push_back(child); });
  }
  return count;
}

// What this process has of it. Collective.
Count count_mine(const Tree& tree, containers::work_queue<Node>& queue) {
  Count count;
  on_one([&] { queue.push(root_of(tree)); });
  while (const std::optional<Node> node = queue.next()) {
    visit(tree, *node, count, [&](const Node& child) { queue.push(child); });
  }
  return count;
}

int program(Args args) {
  Tree tree;
  examples::CommandLine line("The nodes of an unbalanced tree.", "unbalanced_tree");
  line.option("--root", tree.root, "children of the root");
  line.option("--odds", tree.odds, "of another node to have 8 children").range(0.0, 0.1249);
  line.option("--seed", tree.seed, "of the tree");
  if (!line.parse(args)) return 0;

  containers::work_queue<Node> queue(tree.seed);
  barrier();
  const double start = get_seconds();
  const Count mine = count_mine(tree, queue);
  const double seconds = all_reduce(get_seconds() - start, maximum());
  const Count all{all_reduce(mine.nodes, std::plus()), all_reduce(mine.depth, maximum()),
                  all_reduce(mine.states, std::plus())};
  const std::uint64_t least = all_reduce(mine.nodes, minimum());
  const std::uint64_t most = all_reduce(mine.nodes, maximum());
  const std::uint64_t stolen = all_reduce(queue.stolen(), std::plus());
  bool equal = true;
  on_one([&] {
    std::printf("%lu nodes, depth %lu, seed %lu\n", all.nodes, all.depth, tree.seed);
    std::printf("by %u processes in %.4f s; each visited %lu to %lu; %lu were stolen\n", procs(),
                seconds, least, most, stolen);
    const double begin = get_seconds();
    equal = all == count_serially(tree);
    std::printf("alone in %.4f s: %s\n", get_seconds() - begin, equal ? "equal" : "NOT equal");
  });
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace unbalanced_tree

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return unbalanced_tree::program(args); });
}
