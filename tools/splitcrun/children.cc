#include "tools/splitcrun/children.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "am/route/process_stat.h"
#include "tools/splitcrun/process_table.h"

namespace am::launcher {
namespace {

// Why the program does not start, from what execvp said.
Failure cannot_start(const std::string& program, int error) {
  const std::string begin = "cannot start " + program + ": ";
  const bool is_path = program.find('/') != std::string::npos;
  if (error == ENOENT && is_path && access(program.c_str(), F_OK) == 0) {
    return Failure(kExitUsage, begin + "the interpreter that its first line names is missing");
  }
  if (error == ENOENT) {
    return Failure(
        kExitMissingProgram,
        begin + (is_path ? "there is no such file; check the path"
                         : "no such program in PATH; give its path, such as ./" + program));
  }
  if (error == EACCES) {
    return Failure(kExitUsage, begin + "not an executable file; check its mode (chmod +x)");
  }
  return Failure(kExitUsage, begin + std::strerror(error));
}

}  // namespace

Children::Children(const Setup& setup)
    : program_(setup.options.command[0]), pids_(setup.options.processes, 0) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> errors{};
  const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd < 0 || pipe2(errors.data(), O_CLOEXEC) != 0) {
    const char* what = null_fd < 0 ? "cannot open /dev/null (" : "cannot make a pipe (";
    throw Failure(kExitUsage, what + std::string(std::strerror(errno)) + ")");
  }
  start_errors_ = errors[0];
  fcntl(start_errors_, F_SETFL, O_NONBLOCK);
  try {
    for (Rank rank = 0; rank < pids_.size(); ++rank) start(setup, rank, null_fd, errors[1]);
  } catch (...) {
    kill_and_wait();
    close(start_errors_);
    throw;
  }
  close(errors[1]);
  close(null_fd);
}

Children::~Children() {
  if (start_errors_ >= 0) close(start_errors_);
}

void Children::start(const Setup& setup, Rank rank, int null_fd, int error_pipe) {
  Role role{.rank = rank,
            .size = setup.options.processes,
            .job_fd = setup.job_fd,
            .node = node_of(rank, setup.options),
            .processors = setup.processors.empty() ? nullptr : &setup.processors[rank],
            .verbose = setup.options.verbose,
            .statistics = setup.options.statistics,
            .watch_near = setup.options.watch_near,
            .trace = setup.options.trace,
            .null_fd = null_fd,
            .ends = {.out = -1, .err = -1},
            .inherited = setup.inherited,
            .supervisor = getpid()};
  if (setup.output != nullptr) role.ends = setup.output->add(rank);
  const Image image(role, setup.options.command);
  const pid_t pid = fork();
  if (pid == 0) {
    const int error = image.become();
    _exit(write(error_pipe, &error, sizeof(error)) > 0 ? kExitMissingProgram : kExitUsage);
  }
  const int error = errno;
  if (role.ends.out >= 0) close(role.ends.out);
  if (role.ends.err >= 0) close(role.ends.err);
  if (pid < 0) {
    throw Failure(kExitUsage, "cannot start process " + std::to_string(rank + 1) + " of " +
                                  std::to_string(pids_.size()) + " (" + std::strerror(error) +
                                  "); start fewer, or raise the limit (ulimit -u, or pids.max of "
                                  "the control group)");
  }
  pids_[rank] = pid;
  ++running_;
}

std::optional<Failure> Children::start_failure() {
  int error = 0;
  if (start_errors_ < 0) return std::nullopt;
  const ssize_t got = read(start_errors_, &error, sizeof(error));
  if (got < 0) return std::nullopt;
  close(std::exchange(start_errors_, -1));
  if (got == 0) return std::nullopt;
  return cannot_start(program_, error);
}

Children::News Children::reap() {
  News news;
  while (true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) != 0) {
      none_left_ = errno == ECHILD;
      return news;
    }
    if (info.si_pid == 0) return news;
    const auto found = std::ranges::find(pids_, info.si_pid);
    if (found == pids_.end()) continue;  // an orphan
    const auto rank = static_cast<Rank>(found - pids_.begin());
    if (info.si_code == CLD_STOPPED || info.si_code == CLD_CONTINUED) {
      const int signal = info.si_code == CLD_STOPPED ? info.si_status : 0;
      news.stopped.push_back({rank, info.si_pid, signal});
      continue;
    }
    const bool exited = info.si_code == CLD_EXITED;
    news.ended.push_back({rank, info.si_pid,
                          exited ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status)});
    *found = 0;
    --running_;
  }
}

void Children::signal_all(int signal) {
  for (const pid_t pid : pids_) {
    if (pid != 0) kill(pid, signal);
  }
}

bool Children::one_is_ending() const {
  return std::ranges::any_of(pids_, [](pid_t pid) { return pid != 0 && has_ended(pid); });
}

void Children::signal_one(Rank rank, int signal) {
  if (pids_[rank] != 0) kill(pids_[rank], signal);
}

void Children::signal_orphans(int signal) {
  for (const pid_t pid : children()) {
    if (std::ranges::find(pids_, pid) == pids_.end()) kill(pid, signal);
  }
}

void Children::kill_and_wait() {
  signal_all(SIGKILL);
  for (const pid_t pid : pids_) {
    if (pid != 0) waitpid(pid, nullptr, 0);
  }
}

}  // namespace am::launcher
