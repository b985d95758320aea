// The child's side of starting a process.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "am/job/launcher/output.h"
#include "am/types.h"

namespace am::launcher {

// All that one process of the job is told.
struct Role {
  Rank rank;
  std::uint32_t size;
  int job_fd;
  int node;       // that it pretends to be on; -1: the real one
  int processor;  // -1: any
  bool verbose;
  Output::Ends ends;  // -1: as splitcrun's
  sigset_t signal_mask;
  pid_t launcher;
};

// Called between fork and exec: takes the role and becomes the program. Returns an errno when that
// fails; never returns otherwise.
int become(const Role& role, const std::vector<std::string>& command);

}  // namespace am::launcher
