#pragma once

#include <cstdint>
#include <vector>

#include "examples/random.h"

namespace em3d {

// What the user asks for.
struct Options {
  std::uint32_t size = 1000;  // nodes of each side on each process
  std::uint32_t degree = 20;  // edges of each node
  std::uint32_t remote = 20;  // percent of them that lead to another process, where there is one
  std::uint32_t steps = 100;
  std::uint64_t seed = 1;
};

// Electric fields depend on magnetic ones and these on those: every edge joins the two sides.
enum class Side : std::uint8_t { kElectric, kMagnetic };

// The other end of an edge, which is of the other side.
struct Neighbour {
  std::uint32_t proc;
  std::uint32_t index;
  double weight;
};

// A random bipartite graph. Every edge and every first value is a function of the seed and of where
// it is: any process can ask for any of them, and all see the same graph without sending it.
class Graph {
 public:
  Graph(const Options& options, std::uint32_t procs) noexcept : options_(options), procs_(procs) {}

  // The k-th edge of node `index` of `side` on process `proc`.
  Neighbour neighbour(Side side, std::uint32_t proc, std::uint32_t index, std::uint32_t k) const {
    using examples::mix;
    const std::uint64_t random = mix(key(side, proc, index) ^ mix(k + 1));
    Neighbour end{proc, static_cast<std::uint32_t>(mix(random + 1) % options_.size), 0};
    if (procs_ > 1 && random % 100 < options_.remote) {
      const std::uint64_t others = procs_ - 1;
      end.proc = static_cast<std::uint32_t>((proc + 1 + mix(random + 2) % others) % procs_);
    }
    end.weight =
        examples::fraction(random + 3) / options_.degree;  // small enough for values to stay so
    return end;
  }

  double first_value(Side side, std::uint32_t proc, std::uint32_t index) const {
    return examples::fraction(key(side, proc, index));
  }

 private:
  std::uint64_t key(Side side, std::uint32_t proc, std::uint32_t index) const noexcept {
    using examples::mix;
    const std::uint64_t node = std::uint64_t{proc} << 32 | index;
    return mix(mix(options_.seed) + (side == Side::kElectric ? 1 : 2)) ^ mix(node);
  }

  Options options_;
  std::uint32_t procs_;
};

// One node takes in the value at the other end of one edge. All versions go through a node's edges
// in their order, so their results agree to the last bit.
inline double advance(double value, double weight, double other) { return value - weight * other; }

// All values after options.steps steps, computed by this process alone: the electric nodes of
// process 0, its magnetic nodes, the electric nodes of process 1, and so on.
std::vector<double> serial_sweep(const Options& options, std::uint32_t procs);

}  // namespace em3d
