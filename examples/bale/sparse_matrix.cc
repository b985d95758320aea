#include "examples/bale/sparse_matrix.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bale {
namespace {

using namespace splitc;

std::uint32_t sum_of(std::span<const std::uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

std::vector<std::uint32_t> counts_of(std::uint32_t size, std::span<const Entry> entries) {
  std::vector<std::uint32_t> counts(SparseMatrix::rows_of_mine(size));
  for (const Entry& entry : entries) ++counts[entry.row];
  return counts;
}

}  // namespace

SparseMatrix::SparseMatrix(std::uint32_t size, std::span<const std::uint32_t> counts)
    : size_(size),
      begins_(procs(), std::size_t{size / procs()} + 2),
      columns_(procs(), std::size_t{all_reduce(sum_of(counts), maximum())} + 1),
      entries_(all_reduce(std::uint64_t{sum_of(counts)}, std::plus())) {
  const auto begins = begins_.mine();
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
}

SparseMatrix::SparseMatrix(std::uint32_t size, const Rows& mine) : SparseMatrix(size, mine.counts) {
  std::ranges::copy(mine.columns, columns_.mine().begin());
  barrier();
}

SparseMatrix::SparseMatrix(std::uint32_t size, std::span<const Entry> mine)
    : SparseMatrix(size, counts_of(size, mine)) {
  const auto begins = begins_.mine();
  std::vector<std::uint32_t> next(begins.begin(), begins.end());
  const auto columns = columns_.mine();
  for (const Entry& entry : mine) columns[next[entry.row]++] = entry.column;
  barrier();
}

void SparseMatrix::sort_rows() {
  for (std::uint32_t mine = 0; mine < my_rows(); ++mine) std::ranges::sort(row(mine));
}

std::uint64_t SparseMatrix::digest() const {
  std::uint64_t sum = 0;
  for_each_mine([&](std::uint32_t row, std::uint32_t column) { sum += mark_of(row, column); });
  return all_reduce(sum, std::plus());
}

random_matrix matrix_of(const Problem& problem, pattern which) {
  return {problem.seed, problem.all(), problem.degree, which};
}

SparseMatrix make_random(const Problem& problem, pattern which) {
  const random_matrix matrix = matrix_of(problem, which);
  SparseMatrix::Rows rows;
  std::uint32_t columns[kMostDegree + 1];
  for (std::uint32_t mine = 0; mine < problem.size; ++mine) {
    rows.counts.push_back(make_row(&matrix, global(mine), columns));
    rows.columns.insert(rows.columns.end(), columns, columns + rows.counts.back());
  }
  return {matrix.size, rows};
}

}  // namespace bale
