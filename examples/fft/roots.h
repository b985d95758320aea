#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/fft/matrix.h"

namespace fft {

// In which direction a transform turns: the sign of its exponents.
enum class Sign : std::int8_t { kForward = -1, kInverse = 1 };

// exp(sign * 2 pi i e / n), where n is a power of two and e < n.
Complex root(std::size_t e, std::size_t n, Sign sign);

// All n of these roots as products of two out of tables of about sqrt(n), so that the tables stay
// in the cache.
class Roots {
 public:
  Roots(std::size_t n, Sign sign);
  Complex operator[](std::size_t e) const noexcept;

 private:
  std::size_t split_;          // a power of two
  std::vector<Complex> low_;   // of the exponents below it
  std::vector<Complex> high_;  // of its multiples
};

// Without the care for infinities that std::complex takes, which costs several times as much.
inline Complex multiply(const Complex& a, const Complex& b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

inline Complex Roots::operator[](std::size_t e) const noexcept {
  return multiply(high_[e / split_], low_[e % split_]);
}

}  // namespace fft
