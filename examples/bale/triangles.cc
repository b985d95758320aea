// Triangles of an undirected graph: L is the part of its matrix below the diagonal, and each entry
// that L has in common with the product of L and its transpose is a triangle.
//
// An entry (i, j) of L is an edge to a vertex j < i. With another entry (i, w), w < j, there is a
// triangle if row j has column w. The aggregator and the calls push each such candidate (j, w) to
// the owner of row j; the plain style pulls row j.
#include <algorithm>
#include <functional>
#include <numeric>

#include "examples/bale/gather.h"
#include "examples/bale/kronecker.h"
#include "examples/bale/sparse_matrix.h"

namespace bale {
namespace {

using namespace splitc;

bool has(std::span<const std::uint32_t> row, std::uint32_t column) {
  return std::ranges::binary_search(row, column);
}

class Triangles final : public Kernel {
 public:
  explicit Triangles(const Problem& problem)
      : lower_(problem.stars.empty() ? make_random(problem, kStrictlyLower)
                                     : make_kronecker(problem.stars)),
        expected_(problem.stars.empty() ? count_alone(problem)
                                        : triangles_of_kronecker(problem.stars)),
        counter_(lower_, 0) {
    std::uint64_t candidates = 0;
    for (std::uint32_t mine = 0; mine < lower_.my_rows(); ++mine) {
      const std::uint64_t edges = lower_.row(mine).size();
      candidates += edges * (edges - 1) / 2;
    }
    candidates_ = all_reduce(candidates, std::plus());
  }

  std::uint64_t updates() const override { return candidates_; }

  void run(const Way& way) override {
    counter_->triangles = 0;
    barrier();  // before others count here
    if (way.style == Style::kPlain) return pull();
    const auto look = [](Counter& mine, Candidate one) {
      mine.triangles += has(mine.lower.row(one.local_row), one.column) ? 1u : 0u;
    };
    with_sender<Candidate>(way, counter_, look, [&](auto& sender) {
      for (std::uint32_t mine = 0; mine < lower_.my_rows(); ++mine) {
        const auto row = lower_.row(mine);
        for (std::size_t k = 1; k < row.size(); ++k) {
          const Place to = place_of(row[k]);
          for (std::size_t w = 0; w < k; ++w) sender.send(to.proc, {to.local, row[w]});
        }
      }
      sender.flush_all();
    });
  }

  Verdict check() override {
    const std::uint64_t all = all_reduce(counter_->triangles, std::plus());
    return {all > expected_ ? all - expected_ : expected_ - all, all};
  }

 private:
  struct Counter {
    Counter(const SparseMatrix& matrix, std::uint64_t count) : lower(matrix), triangles(count) {}
    const SparseMatrix& lower;
    std::uint64_t triangles;
  };
  struct Candidate {
    std::uint32_t local_row;
    std::uint32_t column;
  };

  // Some rows at a time: the ends of all rows that their entries name, then these rows.
  void pull() {
    std::vector<std::uint32_t> ends, pulled;
    for (std::uint32_t first = 0; first < lower_.my_rows();) {
      std::uint32_t last = first;
      std::size_t edges = 0;
      while (last < lower_.my_rows() && edges < kAhead) edges += lower_.row(last++).size();
      pull_rows(first, last, edges, ends, pulled);
      first = last;
    }
    barrier();
  }
  void pull_rows(std::uint32_t first, std::uint32_t last, std::size_t edges,
                 std::vector<std::uint32_t>& ends, std::vector<std::uint32_t>& pulled) {
    ends.resize(2 * edges);
    const auto for_each_edge = [&](auto f) {
      std::size_t next = 0;
      for (std::uint32_t mine = first; mine < last; ++mine) {
        for (const std::uint32_t to : lower_.row(mine)) {
          f(mine, to, std::span(&ends[2 * next++], 2));
        }
      }
    };
    std::size_t columns = 0;
    for_each_edge(
        [&](std::uint32_t, std::uint32_t to, auto end) { bulk_get(end, lower_.begin_of(to)); });
    sync();
    for_each_edge([&](std::uint32_t, std::uint32_t, auto end) { columns += end[1] - end[0]; });
    pulled.resize(columns);
    std::uint32_t* at = pulled.data();
    for_each_edge([&](std::uint32_t, std::uint32_t to, auto end) {
      bulk_get(std::span(at, end[1] - end[0]), lower_.columns_beside(to) + end[0]);
      at += end[1] - end[0];
    });
    sync();
    at = pulled.data();
    for_each_edge([&](std::uint32_t mine, std::uint32_t, auto end) {
      counter_->triangles += in_common(lower_.row(mine), std::span(at, end[1] - end[0]));
      at += end[1] - end[0];
    });
  }
  static std::uint64_t in_common(std::span<const std::uint32_t> a,
                                 std::span<const std::uint32_t> b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      count += a[i] == b[j] ? 1u : 0u;
      const bool next_of_a = a[i] <= b[j];
      j += b[j] <= a[i] ? 1u : 0u;
      i += next_of_a ? 1u : 0u;
    }
    return count;
  }

  // Of a random graph each process makes the rows once more that it asks others for in run().
  std::uint64_t count_alone(const Problem& problem) const {
    const random_matrix graph = matrix_of(problem, kStrictlyLower);
    std::uint32_t columns[kMostDegree + 1];
    std::uint64_t count = 0;
    lower_.for_each_mine([&](std::uint32_t row, std::uint32_t column) {
      const std::uint32_t other = make_row(&graph, column, columns);
      count += in_common(lower_.row(local(row)), std::span(columns, other));
    });
    return all_reduce(count, std::plus());
  }

  SparseMatrix lower_;
  std::uint64_t expected_;
  std::uint64_t candidates_;
  dist_object<Counter> counter_;
};

}  // namespace

std::unique_ptr<Kernel> make_triangles(const Problem& problem) {
  return std::make_unique<Triangles>(problem);
}

}  // namespace bale
