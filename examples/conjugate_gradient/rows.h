// The rows of a sparse matrix that one process has, and which elements of a vector its product with
// them needs from other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/conjugate_gradient/matrix.h"
#include "splitc/splitc.h"

namespace conjugate_gradient {

// One block of rows, and of the elements of every vector, for each process.
splitc::distribution blocks_of(std::uint32_t size);

// Gives each process the entries in its block of rows. Process 0 has all entries, the others pass
// none. Collective.
std::vector<Entry> deal(std::span<const Entry> entries, const splitc::distribution& blocks);

// Some of a process's ghosts: the first, and how many.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Who needs which elements from whom: found once (by an inspector), used for every product (by an
// executor). The ghosts of a process are copies of those that it needs, in the order of the
// vector, so that those of one owner lie side by side.
struct Plan {
  std::vector<std::uint32_t> ghosts;               // their indices in the whole vector
  std::vector<Range> owned_by;                     // by process: the ghosts here whose owner it is
  std::vector<std::vector<std::uint32_t>> wanted;  // by process: the own elements it has ghosts of,
  std::vector<std::uint32_t> first_there;          // and the first of these ghosts in its order
};

// Collective. `entries` are those of this process's rows.
Plan inspect(std::span<const Entry> entries, const splitc::distribution& blocks);

// Compressed rows. Columns are numbered as this process has the elements: its own, then its ghosts.
class Rows {
 public:
  Rows(std::span<const Entry> entries, const splitc::distribution& blocks, const Plan& plan);

  // Calls take(row, product) with that of each row and the vector, of the rows that need no ghosts,
  // and of those that do. Each adds in the order of the columns.
  template <class Take>
  void multiply_inner(std::span<const double> vector, const Take& take) const {
    multiply(inner_, vector, take);
  }
  template <class Take>
  void multiply_outer(std::span<const double> vector, const Take& take) const {
    multiply(outer_, vector, take);
  }

 private:
  template <class Take>
  void multiply(std::span<const std::uint32_t> rows, std::span<const double> vector,
                const Take& take) const {
    const std::uint32_t* const columns = columns_.data();
    const double* const values = values_.data();
    for (const std::uint32_t row : rows) {
      double sum = 0;
      for (std::size_t k = begin_[row]; k < begin_[row + 1]; ++k)
        sum += values[k] * vector[columns[k]];
      take(row, sum);
    }
  }

  std::vector<std::size_t> begin_;  // of each row's entries, and the end of the last
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
  std::vector<std::uint32_t> inner_, outer_;
};

}  // namespace conjugate_gradient
