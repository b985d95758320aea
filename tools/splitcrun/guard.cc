#include "tools/splitcrun/guard.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tools/splitcrun/children.h"
#include "tools/splitcrun/console.h"
#include "tools/splitcrun/options.h"

namespace am::launcher {
namespace {

constexpr const char* kSupervisorName =
    "splitc-job";  // not splitcrun: killall takes one of the two

std::string text_of(pid_t supervisor) {
  return "its process " + std::to_string(supervisor) + ", which watches the job,";
}

// A thread waits for the reader of standard error, so that signals are still passed on.
void say_aside(const std::string& sentence) {
  try {
    std::thread([sentence] { say_and_wait(sentence); }).detach();
  } catch (const std::system_error&) {
    // Too many threads: the sentence is only a comfort.
  }
}

// Kills all children but `strangers`, and theirs, until none is left.
void end_all_but(const std::vector<pid_t>& strangers) {
  while (true) {
    bool found = false;
    for (const pid_t pid : children()) {
      if (std::ranges::find(strangers, pid) != strangers.end()) continue;
      found = true;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);  // its children are this process's then
    }
    if (!found) return;
  }
}

// Whether the supervisor has ended, and else whether it is stopped, which it says.
bool supervisor_has_ended(pid_t supervisor, int& status, bool& stopped) {
  while (waitpid(supervisor, &status, WNOHANG | WUNTRACED | WCONTINUED) == supervisor) {
    if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) return true;
    stopped = WIFSTOPPED(status);
    if (stopped && WSTOPSIG(status) == SIGSTOP) {  // another one comes from the terminal, for all
      say_aside(text_of(supervisor) + " is stopped: no timeout and no death is noticed until it " +
                "goes on (kill -CONT " + std::to_string(supervisor) + ")");
    }
  }
  return false;
}

int watch(pid_t supervisor) {
  const sigset_t watched = watched_signals();
  bool stopped = false;
  while (true) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&watched, &info);
    const bool passed_on =
        signal > 0 && signal != SIGCHLD && signal != kGuardDied && !from_terminal(info.si_code);
    if (passed_on) kill(supervisor, signal);
    int status = 0;
    if (supervisor_has_ended(supervisor, status, stopped)) return status;
    // So that it can obey. Not otherwise: it would undo a stop that a debugger or LeakSanitizer,
    // who attach to it now, wait for.
    if (passed_on && stopped) kill(supervisor, SIGCONT);
  }
}

}  // namespace

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, kGuardDied, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&set, signal);
  return set;
}

int make_signal_fd() {
  const sigset_t watched = watched_signals();
  const int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd >= 0) return fd;
  throw Failure(kExitUsage, std::string("cannot watch signals (") + std::strerror(errno) + ")");
}

int guarded(const Inherited& inherited, const std::function<int(pid_t)>& work) {
  const std::vector<pid_t> strangers = children();  // of the shell that became splitcrun by exec
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t watched = watched_signals();
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  const pid_t me = getpid();
  const pid_t child = fork();
  if (child < 0) {
    inherited.restore_mask();
    throw Failure(kExitUsage, std::string("cannot fork (") + std::strerror(errno) + ")");
  }
  if (child == 0) {
    prctl(PR_SET_NAME, kSupervisorName);
    prctl(PR_SET_PDEATHSIG, kGuardDied);
    if (getppid() != me) return 128 + SIGKILL;  // it died before the line above
    return work(me);
  }
  const int status = watch(child);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  end_all_but(strangers);
  inherited.restore_mask();  // nothing is left to be watched: signals may end this process
  const int signal = WTERMSIG(status);
  say_and_wait(text_of(child) + " was killed by signal " + std::to_string(signal) + " (" +
               strsignal(signal) + "), so the job has ended; what it printed last may be missing");
  return 128 + signal;
}

}  // namespace am::launcher
