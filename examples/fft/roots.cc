#include "examples/fft/roots.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace fft {

// The whole quarters of a turn are exact. The rest is an eighth of a turn at most, where a rounded
// angle does least harm.
Complex root(std::size_t e, std::size_t n, Sign sign) {
  const std::size_t quarter = (4 * e + n / 2) / n;  // the nearest
  const auto rest = static_cast<double>(4 * e) - static_cast<double>(quarter * n);
  const double angle = 2 * std::numbers::pi * (rest / (4 * static_cast<double>(n)));
  const double real = std::cos(angle), imag = std::sin(angle);
  const Complex turned[] = {{real, imag}, {-imag, real}, {-real, -imag}, {imag, -real}};
  const Complex result = turned[quarter % 4];
  return sign == Sign::kForward ? std::conj(result) : result;
}

Roots::Roots(std::size_t n, Sign sign)
    : split_(std::size_t{1} << std::bit_width(n) / 2), low_(split_), high_((n - 1) / split_ + 1) {
  for (std::size_t e = 0; e < std::min(split_, n); ++e) low_[e] = root(e, n, sign);
  for (std::size_t i = 0; i < high_.size(); ++i) high_[i] = root(i * split_, n, sign);
}

}  // namespace fft
