#include "am/job/launcher/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "am/job/launcher/become.h"

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

// The node that `rank` pretends to be on: blocks of ranks, as equal as possible. -1: the real one.
int node_of(Rank rank, const Options& options) {
  if (options.nodes == 0) return -1;
  return static_cast<int>(std::uint64_t{rank} * options.nodes / options.processes);
}

// The parent of process `pid`, or -1 when it is gone.
pid_t parent_of(const char* pid) {
  std::ifstream file(std::string("/proc/") + pid + "/stat");
  std::string line;  // "4711 (name) S 4700 ..."
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // a name may hold anything, also ") S 1"
  if (name_end == std::string::npos) return -1;
  int parent = -1;
  return std::sscanf(line.c_str() + name_end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

// All children of this process.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return found;
  while (const dirent* entry = readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0 && parent_of(entry->d_name) == getpid()) found.push_back(pid);
  }
  closedir(processes);
  return found;
}

}  // namespace

Children::Children(const Setup& setup) : pids_(setup.options.processes, 0) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Closed by exec: what arrives here is the errno of an exec that failed.
  std::array<int, 2> errors{};
  if (pipe2(errors.data(), O_CLOEXEC) != 0) {
    throw Failure(kExitUsage, std::string("cannot make a pipe (") + std::strerror(errno) + ")");
  }
  try {
    for (Rank rank = 0; rank < pids_.size(); ++rank) start(setup, rank, errors[1]);
  } catch (...) {
    kill_and_wait();
    throw;
  }
  close(errors[1]);
  int error = 0;
  const bool failed = read(errors[0], &error, sizeof(error)) == sizeof(error);
  close(errors[0]);
  if (!failed) return;
  kill_and_wait();
  throw cannot_start(setup.options.command[0], error);
}

void Children::start(const Setup& setup, Rank rank, int error_pipe) {
  Role role{.rank = rank,
            .size = setup.options.processes,
            .job_fd = setup.job_fd,
            .node = node_of(rank, setup.options),
            .processor = setup.processors.empty() ? -1 : setup.processors[rank],
            .verbose = setup.options.verbose,
            .ends = {.out = -1, .err = -1},
            .signal_mask = setup.signal_mask,
            .launcher = getpid()};
  if (setup.output != nullptr) role.ends = setup.output->add(rank);
  const pid_t pid = fork();
  if (pid == 0) {
    const int error = become(role, setup.options.command);
    _exit(write(error_pipe, &error, sizeof(error)) > 0 ? kExitMissingProgram : kExitUsage);
  }
  const int error = errno;
  if (role.ends.out >= 0) close(role.ends.out);
  if (role.ends.err >= 0) close(role.ends.err);
  if (pid < 0) {
    throw Failure(kExitUsage, "cannot start process " + std::to_string(rank + 1) + " of " +
                                  std::to_string(pids_.size()) + " (" + std::strerror(error) +
                                  "); raise ulimit -u or start fewer");
  }
  pids_[rank] = pid;
  ++running_;
  if (!setup.options.verbose) return;
  say("rank " + std::to_string(rank) + " is process " + std::to_string(pid) +
      (role.processor < 0 ? "" : " on processor " + std::to_string(role.processor)));
}

std::vector<Ended> Children::reap() {
  std::vector<Ended> ended;
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto found = std::ranges::find(pids_, pid);
    if (found == pids_.end()) continue;  // an orphan
    ended.push_back({static_cast<Rank>(found - pids_.begin()), pid, status});
    *found = 0;
    --running_;
  }
  none_left_ = pid < 0 && errno == ECHILD;
  return ended;
}

void Children::signal_all(int signal) {
  for (const pid_t pid : pids_) {
    if (pid != 0) kill(pid, signal);
  }
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
