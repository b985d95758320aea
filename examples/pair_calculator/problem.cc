#include "examples/pair_calculator/problem.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace pair_calculator {
namespace {

using namespace splitc;

// The first values of the points of a state, small enough for improve() to converge.
void first_points(const Options& options, std::uint32_t state, std::uint32_t plane,
                  double* points) {
  const double scale = std::sqrt(3.0 / static_cast<double>(options.points));
  const std::size_t first = (std::size_t{state} * options.planes + plane) * options.points;
  for (std::size_t i = 0; i < options.points; ++i) {
    points[i] = scale * (examples::fraction(first + i) - 0.5);
  }
}

void advance(std::span<double> points) {
  for (std::size_t i = 0; i < points.size(); ++i) points[i] *= i % 3 == 0 ? 0.9 : 1.05;
}

std::uint64_t checksum_of(const Options& options, std::uint32_t state, std::uint32_t plane,
                          const double* points) {
  const std::size_t first = (std::size_t{state} * options.planes + plane) * options.points;
  return examples::checksum({points, options.points}, first);
}

// result = (3/2 - rows * transposed rows / 2) * rows: Newton's and Schulz's iteration, which makes
// the rows orthonormal. `overlap` has room for states x states numbers.
void improve_rows(const Options& options, const double* rows, double* overlap, double* result) {
  const int states = static_cast<int>(options.states);
  const int points = static_cast<int>(options.points);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, states, states, points, -0.5, rows, points,
              rows, points, 0.0, overlap, states);
  for (std::size_t i = 0; i < options.states; ++i) overlap[i * options.states + i] += 1.5;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, states, points, states, 1.0, overlap,
              states, rows, points, 0.0, result, points);
}

std::vector<std::uint32_t> dealt_to_me(std::uint32_t n) {
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = my_proc(); i < n; i += procs()) mine.push_back(i);
  return mine;
}

// The most that a process is dealt of n.
std::size_t share(std::uint32_t n) { return (n + procs() - 1) / procs(); }

}  // namespace

Problem::Problem(const Options& options)
    : options_(options),
      my_states_(dealt_to_me(options.states)),
      my_planes_(dealt_to_me(options.planes)),
      homes_(procs(), share(options.states) * options.planes * options.points),
      rows_(procs(), share(options.planes) * options.states * options.points),
      results_(my_planes_.size() * options.states * options.points),
      overlap_(std::size_t{options.states} * options.states) {
  for (const std::uint32_t state : my_states_) {
    for (std::uint32_t plane = 0; plane < options_.planes; ++plane) {
      first_points(options_, state, plane, my_home(state, plane));
    }
  }
}

std::size_t Problem::place_of_plane(std::uint32_t plane) const noexcept {
  return std::size_t{plane / procs()} * options_.states * options_.points;
}

global_ptr<double> Problem::home(std::uint32_t state, std::uint32_t plane) const {
  const std::size_t before = std::size_t{state / procs()} * options_.planes + plane;
  return homes_.on(owner_of_state(state)) + static_cast<std::ptrdiff_t>(before * options_.points);
}
global_ptr<double> Problem::row(std::uint32_t state, std::uint32_t plane) const {
  const std::size_t place = place_of_plane(plane) + state * options_.points;
  return rows_.on(owner_of_plane(plane)) + static_cast<std::ptrdiff_t>(place);
}
const double* Problem::result(std::uint32_t state, std::uint32_t plane) const noexcept {
  return results_.data() + place_of_plane(plane) + state * options_.points;
}

void Problem::improve(std::uint32_t plane) {
  const std::size_t place = place_of_plane(plane);
  improve_rows(options_, rows_.mine().data() + place, overlap_.data(), results_.data() + place);
}

void Problem::advance_states() {
  for (const std::uint32_t state : my_states_) {
    for (std::uint32_t plane = 0; plane < options_.planes; ++plane) {
      advance({my_home(state, plane), options_.points});
    }
  }
}

std::uint64_t Problem::checksum() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t state : my_states_) {
    for (std::uint32_t plane = 0; plane < options_.planes; ++plane) {
      sum += checksum_of(options_, state, plane, my_home(state, plane));
    }
  }
  return sum;
}

std::uint64_t serial_checksum(const Options& options, std::uint32_t iterations) {
  const std::size_t size = options.states * options.points;
  std::vector<double> rows(size), result(size);
  std::vector<double> overlap(std::size_t{options.states} * options.states);
  std::uint64_t sum = 0;
  for (std::uint32_t plane = 0; plane < options.planes; ++plane) {
    for (std::uint32_t state = 0; state < options.states; ++state) {
      first_points(options, state, plane, rows.data() + state * options.points);
    }
    for (std::uint32_t i = 0; i < iterations; ++i) {
      improve_rows(options, rows.data(), overlap.data(), result.data());
      rows.swap(result);
      for (std::uint32_t state = 0; state < options.states; ++state) {
        advance(std::span(rows).subspan(state * options.points, options.points));
      }
    }
    for (std::uint32_t state = 0; state < options.states; ++state) {
      sum += checksum_of(options, state, plane, rows.data() + state * options.points);
    }
  }
  return sum;
}

}  // namespace pair_calculator
