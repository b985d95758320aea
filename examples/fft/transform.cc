#include "examples/fft/transform.h"

namespace fft {

Transform::Transform(std::size_t rows, std::size_t columns, Sign sign)
    : first_(rows, sign), second_(columns, sign), roots_(rows * columns, sign) {}

// With j = j1 * columns + j2 and k = k2 * rows + k1 the exponent j * k is, but for multiples of n,
// j1 * k1 * columns + j2 * k1 + j2 * k2 * rows: the exponents of a transform over j1, of factors
// between, and of a transform over j2.
void Transform::operator()(const Version& version, const Matrix& from, const Matrix& to,
                           Parcels& parcels) {
  version.transpose(from, to, parcels);
  const Range by_j2 = to.my_rows();
  for (std::size_t j2 = by_j2.begin; j2 < by_j2.end; ++j2) {
    const std::span<Complex> row = to.row(j2);
    first_(row);
    for (std::size_t k1 = 0; k1 < row.size(); ++k1) row[k1] = multiply(row[k1], roots_[j2 * k1]);
  }
  version.transpose(to, from, parcels);
  const Range by_k1 = from.my_rows();
  for (std::size_t k1 = by_k1.begin; k1 < by_k1.end; ++k1) second_(from.row(k1));
  version.transpose(from, to, parcels);
}

}  // namespace fft
