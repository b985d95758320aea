#include "examples/fft/check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numbers>

namespace fft {

using namespace splitc;

namespace {

constexpr std::size_t kAll = 1024;  // up to so many points every frequency is computed directly
constexpr std::size_t kSome = 6;    // of more points

// The sum of term(i) from `begin` to `end`, half by half, so that rounding grows like the logarithm
// of their number.
template <class F>
auto sum_of(std::size_t begin, std::size_t end, const F& term) -> decltype(term(begin)) {
  if (end - begin > 8) {
    const std::size_t middle = begin + (end - begin) / 2;
    return sum_of(begin, middle, term) + sum_of(middle, end, term);
  }
  decltype(term(begin)) sum{};
  for (std::size_t i = begin; i < end; ++i) sum += term(i);
  return sum;
}

// The same of the terms of all processes, of which this one has those of its part of 0 .. n.
template <class F>
auto all_sum_of(std::size_t n, const F& term) -> decltype(term(n)) {
  const Range mine = examples::part(n, procs(), my_proc());
  const auto parts = all_gather(sum_of(mine.begin, mine.end, term));
  return sum_of(0, parts.size(), [&parts](std::size_t i) { return parts[i]; });
}

// One term of a frequency: its point times exp(-2 pi i j f / n), of an angle up to half a turn.
Complex term_of(std::size_t n, std::uint64_t seed, std::size_t frequency, std::size_t j) {
  const std::size_t e = j * frequency % n;
  const double turns = e <= n / 2 ? static_cast<double>(e) : -static_cast<double>(n - e);
  const double angle = -2 * std::numbers::pi * (turns / static_cast<double>(n));
  return point(seed, j) * Complex(std::cos(angle), std::sin(angle));
}

}  // namespace

Complex point(std::uint64_t seed, std::size_t j) noexcept {
  const std::uint64_t place = examples::mix(seed) ^ (2 * j);
  return {2 * examples::fraction(place) - 1, 2 * examples::fraction(place ^ 1) - 1};
}

Check::Check(std::size_t n, std::uint64_t seed)
    : n_(n),
      seed_(seed),
      energy_(all_sum_of(n, [=](std::size_t j) { return std::norm(point(seed, j)); })) {
  if (n <= kAll) {
    compute_all_alone();
  } else {
    compute_some_together();
  }
}

void Check::compute_all_alone() {
  for (std::size_t f = 0; f < n_; ++f) frequencies_.push_back(f);
  on_one([this] {
    for (const std::size_t f : frequencies_) {
      expected_.push_back(
          sum_of(0, n_, [this, f](std::size_t j) { return term_of(n_, seed_, f, j); }));
    }
  });
}

// Those whose sums have simple terms, and some that follow from the seed.
void Check::compute_some_together() {
  frequencies_ = {0, 1, n_ / 2, n_ - 1};
  while (frequencies_.size() < kSome) {
    frequencies_.push_back(examples::mix(seed_ + frequencies_.size()) % n_);
  }
  for (const std::size_t f : frequencies_) {
    expected_.push_back(
        all_sum_of(n_, [this, f](std::size_t j) { return term_of(n_, seed_, f, j); }));
  }
}

double Check::direct_error(const Matrix& spectrum) const {
  double largest = 0;
  on_one([&] {
    std::vector<Complex> found(frequencies_.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      get(found[i], spectrum.elements()[frequencies_[i]]);
    }
    sync();
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(found[i] - expected_[i]));
    }
  });
  return all_bcast(largest) / std::sqrt(static_cast<double>(n_) * energy_);
}

// The squares of the spectrum add up to n times those of the points.
double Check::parseval_error(const Matrix& spectrum) const {
  const auto mine = spectrum.elements().mine();
  const auto parts =
      all_gather(sum_of(0, mine.size(), [mine](std::size_t i) { return std::norm(mine[i]); }));
  const double found = sum_of(0, parts.size(), [&parts](std::size_t i) { return parts[i]; });
  return std::abs(found / (static_cast<double>(n_) * energy_) - 1);
}

double Check::inverse_error(const Matrix& inverse) const {
  const auto mine = inverse.elements().mine();
  const std::size_t first = inverse.my_rows().begin * inverse.columns();
  const auto square = [&](std::size_t i) {
    return std::norm(mine[i] / static_cast<double>(n_) - point(seed_, first + i));
  };
  return std::sqrt(all_reduce(sum_of(0, mine.size(), square), std::plus()) / energy_);
}

// Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2: t passes change the norm by
// no more than t eta / (1 - t eta) of it, where eta = mu + gamma_4 (sqrt 2 + mu) and mu is the
// error of a root. Two out of tables, each within 3 u, give a product within 9 u, so eta is below
// 15 u. The factors between the two transforms count as one more pass. Of the three checks none
// compares more than two transforms, and a sum, which errs less than one of them.
double Check::tolerance() const noexcept {
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const double passes = std::log2(static_cast<double>(n_)) + 1;
  const double bound = passes * 15 * u / (1 - passes * 15 * u);
  return 4 * bound;
}

}  // namespace fft
