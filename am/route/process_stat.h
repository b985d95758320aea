// What the system says of any process of this machine (/proc/PID/stat).
#pragma once

#include <sys/types.h>

#include <optional>

namespace am {

struct ProcessStat {
  char state;  // R, S, D: alive; T, t: stopped, by a signal or a debugger; Z, X: ended
  pid_t parent;
  unsigned flags;                 // of the kernel
  unsigned long cpu_ticks;        // that all its threads have used, in 1/sysconf(_SC_CLK_TCK) s
  unsigned long resident_pages;   // of memory, shared or not
  unsigned long pending_signals;  // of the first thread alone; bit n - 1: signal n
};

// std::nullopt: there is no such process, or the system does not say. Costs three system calls.
std::optional<ProcessStat> read_process_stat(pid_t pid) noexcept;

// Whether a process of that pid has ended, though its parent may not know yet: there is none, or it
// is a zombie, or is about to be one. A process whose first thread has ended lives as long as
// another thread does. For when something of it has vanished.
bool has_ended(pid_t pid) noexcept;

}  // namespace am
