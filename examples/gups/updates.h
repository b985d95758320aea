// What is to be done: which word each update changes, and by what.
#pragma once

#include <cstdint>

#include "examples/random.h"
#include "splitc/splitc.h"

namespace gups {

// The table has 2^bits words on each process.
struct Problem {
  std::uint32_t bits;
  std::uint64_t updates;  // of each process
  std::uint64_t seed;

  std::uint64_t words() const noexcept { return std::uint64_t{1} << bits; }
};

// Update i of a process, whose bits name the word and are what it is combined with.
struct Update {
  std::uint64_t value;

  Update(const Problem& problem, std::uint32_t proc, std::uint64_t i) noexcept
      : value(examples::mix(problem.seed + (std::uint64_t{proc} << 40) + i)) {}
  std::uint32_t proc(std::uint32_t procs) const noexcept {
    return static_cast<std::uint32_t>((value >> 32) * procs >> 32);
  }
  std::uint64_t word(const Problem& problem) const noexcept {
    return value & (problem.words() - 1);
  }
};

// Words of all processes, where each is combined with its updates by exclusive or.
using Table = splitc::spread_array<std::uint64_t>;

}  // namespace gups
