// Two processes of splitcrun: the one that was started, and its child, which starts the job and
// reaps everything that the job leaves behind. The child has no other children, so it can tell what
// is the job's; and it outlives a splitcrun that is killed by SIGKILL, long enough to end the job.
#pragma once

#include <signal.h>

#include <functional>

namespace am::launcher {

constexpr int kGuardDied = SIGPOLL;  // what the child receives when the first process is killed

// SIGCHLD, kGuardDied and the signals that are passed on to the processes of a job.
sigset_t watched_signals();

// True for a signal that the terminal sent (Ctrl-C): every process of the job has it already.
constexpr bool from_terminal(int signal_code) { return signal_code == SI_KERNEL; }

// Runs `work` in a child, with all watched signals blocked, and passes them on to it. `work` is
// given the signal mask from before. Returns its result as the exit code.
int guarded(const std::function<int(const sigset_t& mask_before)>& work);

}  // namespace am::launcher
