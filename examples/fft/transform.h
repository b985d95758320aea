#pragma once

#include "examples/fft/rows.h"
#include "examples/fft/transpose.h"

namespace fft {

// The transform of n = rows * columns points, X[k] = sum over j of x[j] exp(sign 2 pi i j k / n),
// in six steps.
class Transform {
 public:
  Transform(std::size_t rows, std::size_t columns, Sign sign);

  // `from` has these rows and columns and the points, row behind row; `to`, which has as many
  // columns and rows, gets the result, likewise in order. Overwrites `from`. Collective.
  void operator()(const Version& version, const Matrix& from, const Matrix& to, Parcels& parcels);

 private:
  RowTransform first_, second_;
  Roots roots_;
};

}  // namespace fft
