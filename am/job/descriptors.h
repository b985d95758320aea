// What a process does about its file descriptors before it opens any of its own.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

namespace am {

// Opens /dev/null as descriptor 0, 1 or 2 wherever nothing is open there, so that none of them
// becomes a file or socket into which the program prints. It can only be read: a write fails as it
// did before (EBADF). They pass through exec, as standard streams do. Throws Error if one stays
// closed: /dev/null cannot be opened.
void fill_standard_streams();

// Raises the soft limit of open files (RLIMIT_NOFILE) to the hard one, at most kMostOpenFiles. What
// this process starts inherits it. Returns the limits as they were if they were changed.
constexpr rlim_t kMostOpenFiles = 1 << 20;
std::optional<rlimit> raise_open_files_limit() noexcept;

// How many files this process may open, by that limit, and how many it has open; 0 if the system
// does not say.
std::uint64_t open_files_limit() noexcept;
std::uint64_t open_files() noexcept;

}  // namespace am
