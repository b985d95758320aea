#include "examples/page_rank/flow.h"

#include <algorithm>

namespace page_rank {

using namespace splitc;

namespace {

// A vertex as its owner has it, in the order of an outbox: by process, then by vertex.
std::uint64_t goal_of(const Vertices& vertices, Vertex v) {
  return std::uint64_t{vertices.owner(v)} << 32 | vertices.local(v);
}
std::uint32_t proc_in(std::uint64_t goal) { return static_cast<std::uint32_t>(goal >> 32); }
std::uint32_t local_in(std::uint64_t goal) { return static_cast<std::uint32_t>(goal); }

}  // namespace

Flow::Flow(const Vertices& vertices, std::span<const Edge> edges) {
  std::vector<std::uint64_t> goals;
  for (const Edge& edge : edges) goals.push_back(goal_of(vertices, edge.to));
  examples::make_set(goals);
  outbox_.resize(goals.size());
  make_edges(vertices, edges, goals);
  make_parcels(goals);
}

void Flow::make_edges(const Vertices& vertices, std::span<const Edge> edges,
                      std::span<const std::uint64_t> goals) {
  auto next = edges.begin();
  for (const std::size_t v : vertices.my_indices()) {
    begin_.push_back(slots_.size());
    for (; next != edges.end() && next->from == v; ++next) {
      const auto goal = std::ranges::lower_bound(goals, goal_of(vertices, next->to));
      slots_.push_back(static_cast<std::uint32_t>(goal - goals.begin()));
    }
  }
  begin_.push_back(slots_.size());
}

// Every process says to each other once for which vertices it has something, and is told where in
// the inbox its parcel begins. From then on the values alone travel.
void Flow::make_parcels(std::span<const std::uint64_t> goals) {
  std::vector<std::size_t> counts(procs());
  std::vector<std::uint32_t> receivers;
  for (const std::uint64_t goal : goals) {
    ++counts[proc_in(goal)];
    receivers.push_back(local_in(goal));
  }
  const auto received =
      all_to_all_varying(std::span(receivers), std::span<const std::size_t>(counts));
  receivers_ = received.all();
  inbox_ = spread_array<double>(procs(), all_reduce(receivers_.size(), maximum()));

  std::vector<std::uint64_t> firsts, first_there(procs());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    firsts.push_back(proc == 0 ? 0 : firsts.back() + received.of(proc - 1).size());
  }
  all_to_all(std::span(firsts), std::span(first_there));
  std::size_t first = 0;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (counts[proc] > 0) {
      parcels_.push_back(
          {first, counts[proc], inbox_.on(proc) + static_cast<std::ptrdiff_t>(first_there[proc])});
    }
    first += counts[proc];
  }
}

void Flow::pack(std::span<const double> ranks) {
  std::ranges::fill(outbox_, 0);
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    if (degree(v) == 0) continue;
    const double share = ranks[v] / static_cast<double>(degree(v));
    for (std::size_t k = begin_[v]; k < begin_[v + 1]; ++k) outbox_[slots_[k]] += share;
  }
}

void Flow::carry(std::span<const double> ranks, std::span<double> inflow) {
  pack(ranks);
  for (const Parcel& parcel : parcels_) {
    bulk_store(parcel.target, std::span(outbox_).subspan(parcel.first, parcel.count));
  }
  store_sync(receivers_.size() * sizeof(double));
  std::ranges::fill(inflow, 0);
  const double* next = inbox_.mine().data();
  for (const std::uint32_t v : receivers_) inflow[v] += *next++;
}

}  // namespace page_rank
