// A square sparse matrix of zeros and ones, spread over all processes: compressed rows, which are
// dealt to the processes in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "examples/bale/input.h"
#include "examples/bale/kernel.h"
#include "splitc/splitc.h"

namespace bale {

// A one of the matrix, at the process that has its row; rows are numbered as they lie there.
struct Entry {
  std::uint32_t row;
  std::uint32_t column;
};

class SparseMatrix {
 public:
  using Columns = std::vector<std::uint32_t>;

  // The entries of a process's rows, row by row.
  struct Rows {
    Columns counts;  // of the entries of each row
    Columns columns;
  };

  // Collective.
  SparseMatrix(std::uint32_t size, const Rows& mine);
  // `mine` are the entries of this process's rows, in any order. Collective.
  SparseMatrix(std::uint32_t size, std::span<const Entry> mine);
  // With as many entries in each row of this process as `counts` says, whose columns are to be
  // written through pointers. Collective.
  SparseMatrix(std::uint32_t size, std::span<const std::uint32_t> counts);

  std::uint32_t size() const { return size_; }
  std::uint32_t my_rows() const { return rows_of_mine(size_); }
  // Of all processes.
  std::uint64_t entries() const { return entries_; }

  // A row of this process, by its number here.
  std::span<std::uint32_t> row(std::uint32_t mine) const {
    const std::uint32_t* const begin = &begins_.mine()[mine];
    return {columns_.mine().data() + begin[0], begin[1] - begin[0]};
  }
  // Calls f(row, column) for each entry here, with the number that the row has in the matrix.
  template <class F>
  void for_each_mine(F&& f) const {
    for (std::uint32_t mine = 0; mine < my_rows(); ++mine) {
      for (const std::uint32_t column : row(mine)) f(global(mine), column);
    }
  }

  // Of any row, for gets and puts: where it begins among the columns of its process, behind which
  // stands where it ends; and these columns.
  splitc::global_ptr<std::uint32_t> begin_of(std::uint32_t row) const {
    return begins_.on(owner(row)) + local(row);
  }
  splitc::global_ptr<std::uint32_t> columns_beside(std::uint32_t row) const {
    return columns_.on(owner(row));
  }

  // Puts the columns of each row in ascending order.
  void sort_rows();
  // Of all processes; it does not depend on the order of columns. Collective.
  std::uint64_t digest() const;

  // How many of so many rows this process has.
  static std::uint32_t rows_of_mine(std::uint32_t size) {
    return (size + splitc::procs() - 1 - splitc::my_proc()) / splitc::procs();
  }

 private:
  std::uint32_t size_;
  splitc::spread_array<std::uint32_t> begins_;
  splitc::spread_array<std::uint32_t> columns_;
  std::uint64_t entries_;
};

random_matrix matrix_of(const Problem& problem, pattern which);
// Collective.
SparseMatrix make_random(const Problem& problem, pattern which);

}  // namespace bale
