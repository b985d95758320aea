// What /proc says of processes.
#pragma once

#include <sys/types.h>

#include <vector>

namespace am::launcher {

// All children of this process, those that have ended and were not waited for among them.
std::vector<pid_t> children();

}  // namespace am::launcher
