// A job of which only the processes of one node exist. They start as in any other job; what the
// others would have said at the start is made up, as like theirs and as different as it would be.
#pragma once

#include <cstdint>
#include <vector>

#include "am/types/types.h"

namespace am::test {

// What one of the processes that exist has in memory, in bytes.
struct Used {
  std::uint64_t own;     // pages of its own
  std::uint64_t shared;  // its part of pages that several processes have (Pss of /proc)
};

// Starts a job of `size` processes, `near` of them on each node, and connects an endpoint to all.
// Nobody of another node is talked to. What each process of the first node has in memory then,
// beyond what it had before. Throws Error if one of them could not start.
std::vector<Used> memory_of_job(std::uint32_t size, std::uint32_t near);

}  // namespace am::test
