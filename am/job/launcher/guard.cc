#include "am/job/launcher/guard.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "am/job/launcher/options.h"

namespace am::launcher {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, kGuardDied, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&set, signal);
  return set;
}

int guarded(const std::function<int(const sigset_t&)>& work) {
  signal(SIGCHLD, SIG_DFL);  // ignored, it would reap children unseen
  const sigset_t watched = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t me = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw Failure(kExitUsage, std::string("cannot fork (") + std::strerror(errno) + ")");
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, kGuardDied);
    if (getppid() != me) return 128 + SIGKILL;  // it died before the line above
    return work(before);
  }
  while (true) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&watched, &info);
    if (signal < 0) continue;
    if (signal != SIGCHLD) {
      if (!from_terminal(info.si_code)) kill(child, signal);
      continue;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

}  // namespace am::launcher
