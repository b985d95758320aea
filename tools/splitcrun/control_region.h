// The memory that splitcrun and its processes share.
#pragma once

#include <cstdint>

#include "shmem/region.h"

namespace am::launcher {

// A Control (am/job/config/control.h) for a job of `size` processes, as the first of them finds it;
// `survives`: it goes on without its dead. Throws shmem::Error.
shmem::Region make_control(std::uint32_t size, bool survives);

}  // namespace am::launcher
