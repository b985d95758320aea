#include "examples/conjugate_gradient/solve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace conjugate_gradient {

using namespace splitc;

namespace {

// The sum over all processes is made in their order: the same bits everywhere, and in every run.
double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return all_reduce(sum, std::plus());
}

}  // namespace

Solver::Solver(const Problem& problem, std::span<const Entry> entries)
    : problem_(problem),
      blocks_(blocks_of(problem.size)),
      plan_(inspect(entries, blocks_)),
      rows_(entries, blocks_, plan_),
      direction_(blocks_, plan_),
      unknowns_(problem.size, blocked),
      right_side_(blocks_.size_on(my_proc())),
      matrix_product_(right_side_.size()) {
  make_right_side(entries);
}

void Solver::make_right_side(std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    right_side_[blocks_.local(entry.row)] += entry.value * problem_.drawn(entry.column);
  }
}

void Solver::multiply(Halo& halo) {
  const auto take = [out = matrix_product_.data()](std::uint32_t row, double x) { out[row] = x; };
  halo.start();
  rows_.multiply_inner(direction_.local(), take);  // while the ghosts are on their way
  halo.finish();
  rows_.multiply_outer(direction_.local(), take);
  halo.release();
}

// In one pass: the additions of the square, each of which waits for the one before, leave time for
// the others.
double Solver::advance(double step) {
  const std::span<double> x = unknowns_.mine();
  const std::span<const double> p = direction_.own();
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    x[i] += step * p[i];
    residual_[i] -= step * matrix_product_[i];
    sum += residual_[i] * residual_[i];
  }
  return all_reduce(sum, std::plus());
}

Outcome Solver::solve(const Version& version, examples::Progress& progress) {
  const std::unique_ptr<Halo> halo = version.make(direction_, plan_);
  const std::span<double> x = unknowns_.mine(), p = direction_.own();
  std::ranges::fill(x, 0);
  residual_ = right_side_;
  std::ranges::copy(residual_, p.begin());
  barrier();
  const double start = get_seconds();
  const double first = dot(residual_, residual_);
  const double enough = problem_.tolerance * problem_.tolerance * first;
  double square = first;
  Outcome outcome;
  for (; square > enough && outcome.iterations < problem_.iterations; ++outcome.iterations) {
    multiply(*halo);
    const double curvature = dot(p, matrix_product_);
    if (!(curvature > 0)) refuse_curvature(curvature, outcome.iterations);
    const double before = square;
    square = advance(before / curvature);
    const double factor = square / before;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = residual_[i] + factor * p[i];
    progress.step();
  }
  barrier();
  outcome.seconds = get_seconds() - start;
  if (first > 0) outcome.residual = std::sqrt(square / first);
  return outcome;
}

std::vector<double> Solver::unknowns() const {
  std::vector<double> all(problem_.size);
  std::span<double> rest(all);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    bulk_read(rest.first(unknowns_.size_on(proc)), unknowns_.on(proc));
    rest = rest.subspan(unknowns_.size_on(proc));
  }
  return all;
}

std::uint64_t Solver::all_ghosts() const {
  return all_reduce<std::uint64_t>(plan_.ghosts.size(), std::plus());
}

}  // namespace conjugate_gradient
