// Runs one job: starts it, watches it, ends it when one process fails.
#pragma once

#include <sys/types.h>

#include "tools/splitcrun/inherited.h"
#include "tools/splitcrun/options.h"

namespace am::launcher {

// Returns when no process of the job is left and what they printed is written; the result is
// splitcrun's exit code. Expects watched_signals() to be blocked, and to run in a child of `guard`.
// The processes start with what splitcrun has `inherited`. Throws Failure, shmem::Error.
int supervise(const Options& options, const Inherited& inherited, pid_t guard);

}  // namespace am::launcher
