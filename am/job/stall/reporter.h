// Reports a job that stands still where no launcher of ours watches it (mpirun, srun, rendezvous, a
// program started bare): each node for itself, by the first of its processes that waits and still
// observes the others. One that runs a handler, or blocks outside the library, does not.
#pragma once

#include "am/route/router.h"
#include "am/types/function.h"

namespace am {

// What a thread that waits is to call, now and then. It reports after `limit_s` seconds without
// progress, 0: only when asked by SIGUSR1. One at a time in a process.
Function<void(const Router& router)> make_stall_reporter(double limit_s);

// SIGUSR1 asks a job what it does, and ends no process of one: from now on it is only noted, unless
// the program has a handler of its own, or ignores it. It stays so after the job: the signal may be
// sent to all processes while some have left theirs.
void note_stall_questions();

}  // namespace am
