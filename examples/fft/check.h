// What is right, found without any of the transform's own steps: sums over all points, term by term
// as the definition has them, for some frequencies or all of them; Parseval's identity; and that
// the inverse transform gives back the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/fft/matrix.h"

namespace fft {

// A point of the vector that is transformed: both parts are from -1 to 1.
Complex point(std::uint64_t seed, std::size_t j) noexcept;

class Check {
 public:
  // Of n points made from the seed. Collective.
  Check(std::size_t n, std::uint64_t seed);

  // These return, in every process, an error relative to the norm of what is right. Collective.
  double direct_error(const Matrix& spectrum) const;
  double parseval_error(const Matrix& spectrum) const;
  double inverse_error(const Matrix& inverse) const;

  // How many frequencies direct_error() compares.
  std::size_t frequencies() const noexcept { return frequencies_.size(); }
  // What rounding may add up to in any of the above.
  double tolerance() const noexcept;

 private:
  void compute_all_alone();
  void compute_some_together();

  std::size_t n_;
  std::uint64_t seed_;
  double energy_;  // the sum of the squares of the points
  std::vector<std::size_t> frequencies_;
  std::vector<Complex> expected_;  // at these frequencies, on process 0
};

}  // namespace fft
