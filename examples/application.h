// What the applications have in common: each solves its problem with every way of communicating,
// and all ways have to give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "examples/random.h"
#include "splitc/splitc.h"

namespace examples {

class CommandLine;  // examples/command_line.h

// By active messages, by counted stores, by persistent channels.
enum class Way : std::uint8_t { kMessages, kStores, kChannels };

// What the user asks of every application.
struct Runs {
  std::string with = "all";       // the name of a way, or all of them in turn
  std::uint32_t iterations = 20;  // of what the application does over and over, that are timed
  std::uint32_t repetitions = 3;  // of all iterations, of which the fastest counts
  bool verify = false;            // compare with what process 0 computes alone

  // Before the timed ones come these, in which connections are made and memory is touched first.
  static constexpr std::uint32_t kWarmUp = 2;
  std::uint32_t all_iterations() const noexcept { return kWarmUp + iterations; }
};
void add_options(CommandLine& line, Runs& runs);

// Processes along each of three dimensions.
using Grid = std::array<std::uint32_t, 3>;
void add_option(CommandLine& line, Grid& grid);
// Points along each of them: "--size 48", or "--size 1024x1024x512".
void add_size_option(CommandLine& line, Grid& points);
std::string text_of(const Grid& grid);
// `asked`, or where that is empty the grid of all processes whose largest side is the smallest,
// with the longer sides first. Throws if `asked` is a grid of more or of fewer processes.
Grid grid_of_all(const Grid& asked);
// The most square grid of all processes, the longer side first: 3 x 2 of 6, 5 x 1 of 5.
std::pair<std::uint32_t, std::uint32_t> square_grid();

// The part of 0 .. n that is piece `i` of `pieces`, which differ in size by one at most.
struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const noexcept { return end - begin; }
};
Range part(std::size_t n, std::size_t pieces, std::size_t i) noexcept;

// The sum of the mark() of numbers whose places follow `first`: their checksum.
std::uint64_t checksum(std::span<const double> values, std::uint64_t first = 0) noexcept;

// Calls iterate(i) for every iteration, and returns the seconds that the timed ones take.
// Collective: when it returns every process is done with all of them.
template <class F>
double timed(const Runs& runs, F&& iterate) {
  double start = 0;
  for (std::uint32_t i = 0; i < runs.all_iterations(); ++i) {
    if (i == Runs::kWarmUp) {
      splitc::barrier();
      start = splitc::get_seconds();
    }
    iterate(i);
  }
  splitc::barrier();
  return splitc::get_seconds() - start;
}

// Of one process's part of one repetition.
struct Outcome {
  double seconds;
  std::uint64_t checksum;
};

// Solves the problem in each way asked for, repeating that in turn, and prints on process 0 the
// time of an iteration and the checksum of each way. `solve` is collective; `solve_alone` runs on
// process 0 only and returns the checksum of the whole. Returns the exit code: 1 if any two differ.
int compare(const Runs& runs, const std::function<Outcome(Way)>& solve,
            const std::function<std::uint64_t()>& solve_alone);

}  // namespace examples
