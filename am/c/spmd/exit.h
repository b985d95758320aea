// AMX_SPMDExit(): how a process asks all others to end, and hears that it is to end itself.
//
// A thread of its own sleeps until somebody asks, runs the exit callback and ends the process. So
// it does not matter what the program's threads are doing: they may compute, sleep, or be in a
// signal handler in the middle of anything.
#pragma once

#include "am/job/job.h"

namespace am::c {

// This process is part of `job` and ends when a process of it asks for that. Once per process;
// throws std::system_error if no thread can be made.
void start_exit_watch(Job& job);

// The job ends. Whether the thread waits in memory of it, which may not be destroyed then.
bool exit_watch_uses_job() noexcept;

}  // namespace am::c
