#include "am/job/launcher/become.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace am::launcher {
namespace {

void set_environment(const Role& role) {
  setenv("SPLITC_RANK", std::to_string(role.rank).c_str(), 1);
  setenv("SPLITC_SIZE", std::to_string(role.size).c_str(), 1);
  setenv("SPLITC_JOB_FD", std::to_string(role.job_fd).c_str(), 1);
  if (role.node >= 0) setenv("SPLITC_NODE", std::to_string(role.node).c_str(), 1);
  if (role.verbose) setenv("SPLITC_VERBOSE", "1", 1);
}

// Rank 0 keeps standard input: two readers of one terminal would steal from each other.
void set_streams(const Role& role) {
  if (role.rank != 0) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
  }
  if (role.ends.out >= 0) dup2(role.ends.out, STDOUT_FILENO);
  if (role.ends.err >= 0) dup2(role.ends.err, STDERR_FILENO);
}

void bind_to(int processor) {
  if (processor < 0) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(processor + 1);
  cpu_set_t* set = CPU_ALLOC(processor + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(processor, bytes, set);
  sched_setaffinity(0, bytes, set);  // a refusal only costs speed
  CPU_FREE(set);
}

}  // namespace

int become(const Role& role, const std::vector<std::string>& command) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != role.launcher) _exit(128 + SIGKILL);  // it died before the line above
  bind_to(role.processor);
  set_streams(role);
  set_environment(role);
  fcntl(role.job_fd, F_SETFD, 0);  // the one descriptor that passes through exec
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &role.signal_mask, nullptr);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return errno;
}

}  // namespace am::launcher
