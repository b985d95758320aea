#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "splitc/group/plan.h"
#include "splitc/world/place.h"

// Collective calls that move so much that each byte should move once: from the memory where one
// process has it to where another shall have it, without boards. Each returns false, in all
// processes, and has done nothing, where processes cannot read one another's memory (Exposed).

namespace splitc::detail {

bool bcast_direct(std::span<std::byte> data, std::uint32_t root, std::uint64_t kind, Call call);
bool gather_direct(std::span<const std::byte> mine, std::byte* all, bool only_to_one,
                   std::uint64_t kind, Call call);
bool all_to_all_direct(std::span<const std::byte> to, std::byte* from, std::uint64_t kind,
                       Call call);

// Combines `bytes` of all processes but 0, of_proc(proc), in their order, with those of 0. Returns
// what the operation throws: others wait for this process, so the call goes on to its end.
template <class Of>
std::exception_ptr combine_all(const Combine& combine, std::byte* into, std::size_t bytes,
                               Of of_proc) {
  try {
    for (std::uint32_t proc = 1; proc < procs() && bytes != 0; ++proc) {
      combine(into, of_proc(proc), bytes / combine.element);
    }
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
bool reduce_direct(std::span<const std::byte> mine, std::byte* result, const Combine& combine,
                   Call call);

}  // namespace splitc::detail
