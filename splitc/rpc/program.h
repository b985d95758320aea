#pragma once

#include <cstdint>

#include "splitc/world/place.h"

namespace am {
class Job;
}

// The program that this process runs, without its shared libraries.

namespace splitc::detail {

// Where it is in memory: each process has it at another address, but all of it in one piece.
struct Code {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;  // from there to the end of what can be executed; at most 4 GiB
};
// Found when the program starts, and constant from then on.
inline constinit Code program_code;
void find_program_code();

[[noreturn]] void refuse_place(Call name);
// Where `function` is in it, from its base, and the function that is there. Throws Error if it is
// not in the program's own code.
template <class F>
std::uint32_t place_in_program(F* function, Call name) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(function) - program_code.base;
  if (offset >= program_code.bytes) [[unlikely]]
    refuse_place(name);
  return static_cast<std::uint32_t>(offset);
}
template <class F>
F* function_at(std::uint32_t offset) noexcept {
  return reinterpret_cast<F*>(program_code.base + offset);
}

// Whether all processes run the same one, so that a function has the same place in each. On one
// node that is the same file; files of other nodes are compared by what the linker noted of their
// contents, or, where it did not, by the code itself. Collective.
bool all_run_one_program(am::Job& job);

}  // namespace splitc::detail
