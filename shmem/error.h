// What every call of shmem throws when it cannot do its work: one sentence with the numbers, the
// cause and the remedy. Only set-up calls throw; nothing on a data path does.
#pragma once

#include <stdexcept>

namespace shmem {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was to be opened is there, and the system does not let this process open it.
struct Unreachable : Error {
  using Error::Error;
};

// What was to be opened has ended, or its process has.
struct Gone : Error {
  using Error::Error;
};

}  // namespace shmem
