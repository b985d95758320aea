// How many files this process may open: a connection to another process takes one.
#pragma once

#include <cstdint>

namespace rdma {

// Raises the soft limit of open files (RLIMIT_NOFILE) to the hard one, or to 1,048,576 where that
// is lower: some programs touch every descriptor below the limit. Returns the limit that now holds.
// Programs that this process starts later inherit it. Never lowers it; any thread.
std::uint64_t raise_file_limit() noexcept;

// Descriptors that this process has open now; 0 if /proc does not say.
std::uint64_t open_files() noexcept;

}  // namespace rdma
