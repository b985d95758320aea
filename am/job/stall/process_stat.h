// What the system says of any process of this machine (/proc/PID/stat).
#pragma once

#include <sys/types.h>

#include <optional>

namespace am {

struct ProcessStat {
  char state;  // R, S, D: alive; T, t: stopped, by a signal or a debugger; Z, X: ended
  pid_t parent;
};

// std::nullopt: there is no such process, or the system does not say.
std::optional<ProcessStat> read_process_stat(pid_t pid);

}  // namespace am
