#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/page_rank/ranks.h"
#include "splitc/splitc.h"

namespace page_rank {

// Something by vertex, dealt to the processes in turn.
using Vertices = splitc::spread_array<double>;

// Carries the ranks of vertices along their edges. What the vertices of one process give to one
// vertex is added up before it leaves, and what goes to one process goes in one parcel.
class Flow {
 public:
  // `edges` are those that begin at this process's vertices, in order. Collective, and so is the
  // end.
  Flow(const Vertices& vertices, std::span<const Edge> edges);

  // inflow[v] := the sum of ranks[u] / degree(u) over all edges from any u to v, for the vertices v
  // of this process, which are numbered as it has them. All processes call it, and one that comes
  // out of a reduction behind it may call it again. The sums are made in the same order in every
  // run with as many processes.
  void carry(std::span<const double> ranks, std::span<double> inflow);

  // How many edges begin at vertex `v` of this process.
  std::size_t degree(std::size_t v) const { return begin_[v + 1] - begin_[v]; }

 private:
  struct Parcel {
    std::size_t first, count;  // in outbox_
    splitc::global_ptr<double> target;
  };

  void make_edges(const Vertices& vertices, std::span<const Edge> edges,
                  std::span<const std::uint64_t> goals);
  void make_parcels(std::span<const std::uint64_t> goals);
  void pack(std::span<const double> ranks);

  std::vector<std::size_t> begin_;  // of the edges of each of this process's vertices, and the end
  std::vector<std::uint32_t> slots_;  // of the edges: the place in outbox_
  std::vector<double> outbox_;        // by process, then by vertex
  std::vector<Parcel> parcels_;
  std::vector<std::uint32_t> receivers_;   // the own vertex for each place in inbox_
  splitc::spread_array<double> inbox_{0};  // by sender, in the order of its outbox
};

}  // namespace page_rank
