#pragma once

#include <cstdint>

#include "splitc/world/place.h"

namespace am {
class Job;
}

// The program that this process runs, and those of its shared libraries that add_library() has
// named.

namespace splitc::detail {

// Where it is in memory: each process has it at another address, but all of it in one piece.
struct Code {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;  // from there to the end of what can be executed; at most 4 GiB
};
// Found when the program starts, and constant from then on.
inline constinit Code program_code;
void find_program_code();

// Shared libraries, whose places follow those of the program. Every process has added the same in
// the same order, so a place means the same in all of them. Throws Error if `address` is in none.
std::uint32_t place_in_library(std::uintptr_t address, Call name);
std::uintptr_t address_in_library(std::uint32_t place) noexcept;
// Adds the library that has `address`. Collective.
void add_library(std::uintptr_t address, Call name);

// Where `function` is in the program, from its base, or in a library that was added; and the
// function that is there. Throws Error if it is in neither.
template <class F>
std::uint32_t place_in_program(F* function, Call name) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const std::uintptr_t offset = address - program_code.base;
  if (offset >= program_code.bytes) [[unlikely]]
    return place_in_library(address, name);
  return static_cast<std::uint32_t>(offset);
}
template <class F>
F* function_at(std::uint32_t at) noexcept {
  if (at >= program_code.bytes) [[unlikely]]
    return reinterpret_cast<F*>(address_in_library(at));
  return reinterpret_cast<F*>(program_code.base + at);
}

// Whether all processes run the same one, so that a function has the same place in each. On one
// node that is the same file; files of other nodes are compared by what the linker noted of their
// contents, or, where it did not, by the code itself. Collective.
bool all_run_one_program(am::Job& job);

}  // namespace splitc::detail
