// Shortest paths from vertex 0 to all others of a directed graph with weights.
//
// Delta stepping, without its distinction of light and heavy edges: of the vertices that have come
// nearer since their edges were followed last, those are followed whose distance is within delta of
// the least one; then those that are within delta of what is the least one then.
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "examples/bale/input.h"
#include "examples/bale/sparse_matrix.h"
#include "examples/graph/collect.h"

namespace bale {
namespace {

using namespace splitc;

using Distance = std::uint64_t;
constexpr Distance kFar = std::numeric_limits<Distance>::max();
constexpr Distance kHeaviest = std::uint64_t{1} << 20;  // the most that weight_of() gives

// A vertex of the process that it is sent to, and how far it is at most.
struct Reached {
  Distance distance;
  std::uint32_t local_vertex;
};

// As an aggregator sends them, but by atomics.
class Nearer {
 public:
  explicit Nearer(spread_array<Distance>& distances) : distances_(distances) {}
  void send(std::uint32_t proc, const Reached& vertex) {
    start_fetch_and_min(distances_.on(proc) + vertex.local_vertex, vertex.distance);
    if (++started_ % kAhead == 0) sync();
  }
  static void flush_all() {
    sync();
    barrier();
  }

 private:
  spread_array<Distance>& distances_;
  std::size_t started_ = 0;
};

class ShortestPaths final : public Kernel {
 public:
  explicit ShortestPaths(const Problem& problem)
      : random_(matrix_of(problem, kWhole)),
        graph_(make_random(problem, kWhole)),
        distances_(problem.all()),
        here_(Part<Distance>{distances_.mine()}) {
    if (my_proc() == 0) expected_ = dijkstra();
  }

  std::uint64_t updates() const override { return graph_.entries(); }

  void run(const Way& way) override {
    for (Distance& distance : here_->mine) distance = kFar;
    if (my_proc() == 0) here_->mine[0] = 0;
    barrier();
    if (way.style == Style::kPlain) {
      Nearer nearer(distances_);
      return follow_all(nearer);
    }
    const auto reach = [](Part<Distance>& part, const Reached& vertex) {
      Distance& distance = part.mine[vertex.local_vertex];
      if (vertex.distance < distance) distance = vertex.distance;
    };
    with_sender<Reached>(way, here_, reach, [&](auto& sender) { follow_all(sender); });
  }

  Verdict check() override {
    Verdict verdict{0, 0};
    on_one([&] {
      const std::vector<Distance> all = examples::collect(distances_);
      for (std::uint32_t i = 0; i < all.size(); ++i) {
        verdict.wrong += all[i] != expected_[i] ? 1u : 0u;
        verdict.answer += mark_of(i, all[i]);
      }
    });
    return all_bcast(verdict);
  }

 private:
  template <class Sender>
  void follow_all(Sender& sender) {
    const Distance delta = 2 * kHeaviest / (random_.degree + 1);
    const std::uint32_t vertices = graph_.my_rows();
    std::vector<Distance> followed(vertices, kFar);  // the distance when its edges were followed
    std::vector<Reached> nearer;
    for (;;) {
      // The distances are read before any process sends again.
      Distance least = kFar;
      nearer.clear();
      for (std::uint32_t mine = 0; mine < vertices; ++mine) {
        const Distance distance = here_->mine[mine];
        if (distance >= followed[mine]) continue;
        nearer.push_back({distance, mine});
        least = std::min(least, distance);
      }
      least = all_reduce(least, minimum());
      if (least == kFar) return;
      for (const Reached& vertex : nearer) {
        if (vertex.distance - least >= delta) continue;
        followed[vertex.local_vertex] = vertex.distance;
        follow(vertex, sender);
      }
      sender.flush_all();
    }
  }
  template <class Sender>
  void follow(const Reached& vertex, Sender& sender) {
    const std::uint32_t from = global(vertex.local_vertex);
    for (const std::uint32_t to : graph_.row(vertex.local_vertex)) {
      sender.send(owner(to), {vertex.distance + weight_of(random_.seed, from, to), local(to)});
    }
  }

  // The distance of every vertex, by one process that makes all rows itself.
  std::vector<Distance> dijkstra() const {
    using Open = std::pair<Distance, std::uint32_t>;
    std::vector<Distance> distances(random_.size, kFar);
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    std::uint32_t row[kMostDegree + 1];
    distances[0] = 0;
    open.emplace(0, 0);
    while (!open.empty()) {
      const auto [distance, from] = open.top();
      open.pop();
      if (distance != distances[from]) continue;
      const std::uint32_t count = make_row(&random_, from, row);
      for (const std::uint32_t to : std::span(row, count)) {
        const Distance through = distance + weight_of(random_.seed, from, to);
        if (through >= distances[to]) continue;
        distances[to] = through;
        open.emplace(through, to);
      }
    }
    return distances;
  }

  random_matrix random_;
  SparseMatrix graph_;
  spread_array<Distance> distances_;
  dist_object<Part<Distance>> here_;
  std::vector<Distance> expected_;  // of process 0
};

}  // namespace

std::unique_ptr<Kernel> make_shortest_paths(const Problem& problem) {
  return std::make_unique<ShortestPaths>(problem);
}

}  // namespace bale
