#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace pair_calculator {

struct Options {
  std::uint32_t states = 32;
  std::uint32_t planes = 4;
  std::size_t points = 512;  // of every state in every plane
};

// States, each with points in several planes, that are to be made orthonormal, plane by plane. The
// states are dealt to the processes, and so are the planes. The process that has a plane multiplies
// its states in pairs, for which it needs the points of all of them as rows of one matrix.
class Problem {
 public:
  explicit Problem(const Options& options);  // collective, and so is its end

  std::uint32_t states() const noexcept { return options_.states; }
  std::size_t points() const noexcept { return options_.points; }
  std::size_t row_bytes() const noexcept { return options_.points * sizeof(double); }
  const std::vector<std::uint32_t>& my_states() const noexcept { return my_states_; }
  const std::vector<std::uint32_t>& my_planes() const noexcept { return my_planes_; }
  std::uint32_t planes() const noexcept { return options_.planes; }
  std::uint32_t owner_of_state(std::uint32_t state) const { return state % splitc::procs(); }
  std::uint32_t owner_of_plane(std::uint32_t plane) const { return plane % splitc::procs(); }

  // The points of a state in a plane, at the process that has the state.
  splitc::global_ptr<double> home(std::uint32_t state, std::uint32_t plane) const;
  // Their row in the matrix of the plane, at the process that has the plane.
  splitc::global_ptr<double> row(std::uint32_t state, std::uint32_t plane) const;
  // What they shall be next, at that process, once improve(plane) has been called.
  const double* result(std::uint32_t state, std::uint32_t plane) const noexcept;
  // The first two, of this process.
  double* my_home(std::uint32_t state, std::uint32_t plane) const {
    return address(home(state, plane));
  }
  double* my_row(std::uint32_t state, std::uint32_t plane) const {
    return address(row(state, plane));
  }

  // A step towards orthonormal states in a plane of this process, whose matrix is complete.
  void improve(std::uint32_t plane);
  // Whatever else a program does with its states between two such steps.
  void advance_states();

  std::uint64_t checksum() const;  // of this process's states

 private:
  static double* address(splitc::global_ptr<double> p) { return splitc::tolocal(p); }
  std::size_t place_of_plane(std::uint32_t plane) const noexcept;

  Options options_;
  std::vector<std::uint32_t> my_states_, my_planes_;
  splitc::spread_array<double> homes_;  // by state and plane
  splitc::spread_array<double> rows_;   // by plane and state
  std::vector<double> results_;         // the same, of this process
  std::vector<double> overlap_;
};

// What all iterations leave of all states, computed by this process alone.
std::uint64_t serial_checksum(const Options& options, std::uint32_t iterations);

}  // namespace pair_calculator
