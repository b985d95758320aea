#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace fft {

using Complex = std::complex<double>;
using examples::Range;

// A matrix whose rows are dealt out in blocks of equal size, process by process: the last ones may
// have fewer rows, or none. Row behind row it is also a vector, in blocks of whole rows.
class Matrix {
 public:
  // Collective, and so is the end of it.
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows),
        columns_(columns),
        block_((rows + splitc::procs() - 1) / splitc::procs()),
        elements_(rows * columns, splitc::block_cyclic(block_ * columns)) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  // The most rows that a process has, and those of one.
  std::size_t block() const noexcept { return block_; }
  Range rows_of(std::uint32_t proc) const noexcept {
    const std::size_t begin = std::min(proc * block_, rows_);
    return {begin, std::min(begin + block_, rows_)};
  }
  Range my_rows() const noexcept { return rows_of(splitc::my_proc()); }

  // A row of this process, and an element of any.
  std::span<Complex> row(std::size_t i) const noexcept {
    return elements_.mine().subspan((i - my_rows().begin) * columns_, columns_);
  }
  splitc::global_ref<Complex> at(std::size_t i, std::size_t j) const {
    return elements_[i * columns_ + j];
  }
  const splitc::spread_array<Complex>& elements() const noexcept { return elements_; }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::size_t block_;
  splitc::spread_array<Complex> elements_;
};

}  // namespace fft
