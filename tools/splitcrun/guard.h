// Two processes of splitcrun: the one that was started, the guard, and its child, the supervisor,
// which starts the job and reaps everything that the job leaves behind.
//
// The supervisor has no other children while any of the job lives, so it knows what is the job's.
// Each ends the job when the other is killed: the supervisor is sent kGuardDied, also while it is
// stopped, and the guard reaps what the supervisor leaves. Of what the job has started nothing
// survives either of them.
#pragma once

#include <signal.h>

#include <functional>

#include "tools/splitcrun/inherited.h"

namespace am::launcher {

// What the supervisor receives when the guard is killed. SIGCONT, as it also wakes a process that
// is stopped; it comes for other reasons too, and then the guard still is the parent.
constexpr int kGuardDied = SIGCONT;

// SIGCHLD, kGuardDied and the signals that are passed on to the processes of a job.
sigset_t watched_signals();

// Readable when one of them has come; they are blocked. Throws Failure.
int make_signal_fd();

// True for a signal that the terminal sent (Ctrl-C): every process of the job has it already.
constexpr bool from_terminal(int signal_code) { return signal_code == SI_KERNEL; }

// Runs `work` in a child, with all watched signals blocked, and passes them on to it. `work` is
// given the process id of the guard. Returns its result as the exit code; 128 + the signal's number
// when the child is killed, after saying so. Throws Failure.
int guarded(const Inherited& inherited, const std::function<int(pid_t guard)>& work);

}  // namespace am::launcher
