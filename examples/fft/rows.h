#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "examples/fft/roots.h"

namespace fft {

// The transform of one row, by the process that has it.
class RowTransform {
 public:
  RowTransform(std::size_t length, Sign sign);
  // `row` has that length.
  void operator()(std::span<Complex> row);

 private:
  std::vector<Complex> roots_;  // of order `length`; the first half of them
  std::vector<Complex> other_;  // every pass goes from the row to here, or back
};

}  // namespace fft
