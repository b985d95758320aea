// Runs one job: starts it, watches it, ends it when one process fails.
#pragma once

#include <signal.h>

#include "am/job/launcher/options.h"

namespace am::launcher {

// Returns when no process of the job is left; the result is splitcrun's exit code. Expects
// watched_signals() to be blocked; the processes start with `mask`. Throws Failure, shmem::Error.
int supervise(const Options& options, const sigset_t& mask);

}  // namespace am::launcher
