// A sparse matrix whose entries change their place: transposed, and with rows and columns permuted.
#include <algorithm>
#include <functional>
#include <optional>

#include "examples/bale/assemble.h"
#include "examples/bale/gather.h"
#include "examples/bale/input.h"

namespace bale {
namespace {

using namespace splitc;

// Columns here that are not those of the other matrix, and rows of another length. Collective.
std::uint64_t differences(const SparseMatrix& a, const SparseMatrix& b) {
  std::uint64_t wrong = 0;
  for (std::uint32_t mine = 0; mine < a.my_rows(); ++mine) {
    wrong += std::ranges::equal(a.row(mine), b.row(mine)) ? 0u : 1u;
  }
  return all_reduce(wrong, std::plus());
}

class Transpose final : public Kernel {
 public:
  explicit Transpose(const Problem& problem) : matrix_(make_random(problem, kWhole)) {}
  std::uint64_t updates() const override { return matrix_.entries(); }
  void run(const Way& way) override {
    result_.reset();
    result_.emplace(assembler_.transpose(way, matrix_));
  }
  // Transposed once more it is what it was.
  Verdict check() override {
    SparseMatrix again = assembler_.transpose({Style::kAggregator}, *result_);
    again.sort_rows();
    const std::uint64_t wrong = differences(matrix_, again);
    return {wrong, result_->digest()};
  }

 private:
  Assembler assembler_;
  SparseMatrix matrix_;
  std::optional<SparseMatrix> result_;
};

// Row i becomes row rows[i], and column j column columns[j], of permutations that are spread over
// all processes. Those of the own rows are here; those of the columns are asked for.
class PermutedMatrix final : public Kernel {
 public:
  explicit PermutedMatrix(const Problem& problem)
      : random_(matrix_of(problem, kWhole)),
        rows_(make_permutation(problem.all(), problem.seed + 1)),
        columns_(make_permutation(problem.all(), problem.seed + 2)),
        matrix_(make_random(problem, kWhole)),
        row_to_(problem.all()),
        column_to_(problem.all()),
        columns_to_(Part<std::uint32_t>{column_to_.mine()}) {
    for (std::uint32_t mine = 0; mine < problem.size; ++mine) {
      row_to_.mine()[mine] = permute(&rows_, global(mine));
      column_to_.mine()[mine] = permute(&columns_, global(mine));
    }
    barrier();
  }
  std::uint64_t updates() const override { return matrix_.entries(); }

  void run(const Way& way) override {
    result_.reset();
    std::vector<Place> columns;
    matrix_.for_each_mine(
        [&](std::uint32_t, std::uint32_t column) { columns.push_back(place_of(column)); });
    std::vector<std::uint32_t> to(columns.size());
    gather(way, column_to_, columns_to_, std::span<const Place>(columns), std::span(to));
    result_.emplace(assembler_.assemble(way, matrix_.size(), [&](auto&& f) {
      std::size_t next = 0;
      for (std::uint32_t mine = 0; mine < matrix_.my_rows(); ++mine) {
        for (std::size_t k = matrix_.row(mine).size(); k > 0; --k) {
          f(row_to_.mine()[mine], to[next++]);
        }
      }
    }));
  }

  // Each row is made once more, out of that which it was.
  Verdict check() override {
    result_->sort_rows();
    std::uint64_t wrong = 0;
    for (std::uint32_t mine = 0; mine < result_->my_rows(); ++mine) {
      wrong += std::ranges::equal(result_->row(mine), expected(global(mine))) ? 0u : 1u;
    }
    return {all_reduce(wrong, std::plus()), result_->digest()};
  }

 private:
  std::vector<std::uint32_t> expected(std::uint32_t row) const {
    std::uint32_t columns[kMostDegree + 1];
    const std::uint32_t count = make_row(&random_, permute_back(&rows_, row), columns);
    std::vector<std::uint32_t> moved;
    for (std::uint32_t i = 0; i < count; ++i) moved.push_back(permute(&columns_, columns[i]));
    std::ranges::sort(moved);
    return moved;
  }

  random_matrix random_;
  permutation rows_, columns_;
  Assembler assembler_;
  SparseMatrix matrix_;
  spread_array<std::uint32_t> row_to_, column_to_;
  dist_object<Part<std::uint32_t>> columns_to_;
  std::optional<SparseMatrix> result_;
};

}  // namespace

std::unique_ptr<Kernel> make_transpose(const Problem& problem) {
  return std::make_unique<Transpose>(problem);
}
std::unique_ptr<Kernel> make_permuted_matrix(const Problem& problem) {
  return std::make_unique<PermutedMatrix>(problem);
}

}  // namespace bale
