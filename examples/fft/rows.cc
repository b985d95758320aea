#include "examples/fft/rows.h"

#include <algorithm>
#include <utility>

namespace fft {

RowTransform::RowTransform(std::size_t length, Sign sign) : other_(length) {
  for (std::size_t e = 0; e < length / 2; ++e) roots_.push_back(root(e, length, sign));
}

// Stockham's form, in which every pass leaves its results in such places that the last one leaves
// them in order: no reversal of bits. A pass combines elements that are half a row apart, and
// writes sums and differences in turn, in runs that get twice as long from pass to pass.
void RowTransform::operator()(std::span<Complex> row) {
  Complex* from = row.data();
  Complex* to = other_.data();
  const std::size_t half = row.size() / 2;
  for (std::size_t run = 1; run <= half; run *= 2, std::swap(from, to)) {
    for (std::size_t begin = 0; begin < half; begin += run) {
      const Complex turn = roots_[begin];
      const Complex* const a = from + begin;
      const Complex* const b = a + half;
      Complex* const sums = to + 2 * begin;
      Complex* const differences = sums + run;
      for (std::size_t k = 0; k < run; ++k) {
        sums[k] = a[k] + b[k];
        differences[k] = multiply(a[k] - b[k], turn);
      }
    }
  }
  if (from != row.data()) std::copy_n(from, row.size(), row.data());
}

}  // namespace fft
