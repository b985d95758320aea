#include "tools/splitcrun/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "am/job/config/variables.h"
#include "am/route/process_stat.h"

namespace am::launcher {
namespace {

std::vector<std::string> variables_of(const Options& options, Rank rank, int job_fd) {
  std::vector<std::string> all = {
      "SPLITC_RANK=" + std::to_string(rank),
      "SPLITC_SIZE=" + std::to_string(options.processes),
      "SPLITC_JOB_FD=" + std::to_string(job_fd),
  };
  const int node = node_of(rank, options);
  if (node >= 0) all.push_back("SPLITC_NODE=" + std::to_string(node));
  if (options.verbose) all.emplace_back("SPLITC_VERBOSE=1");
  if (!options.statistics.empty()) all.push_back("SPLITC_STATS=" + options.statistics);
  if (options.watch_near) all.emplace_back("SPLITC_WATCH_NEAR=1");
  if (!options.trace.empty()) all.push_back("SPLITC_TRACE=" + options.trace);
  return all;
}

bool same_name(std::string_view variable, std::string_view other) {
  return variable.substr(0, variable.find('=')) == other.substr(0, other.find('='));
}

// Without duplicate names: which of two counts is up to the program.
std::vector<char*> environment_with(std::vector<std::string>& variables) {
  std::vector<char*> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const auto replaces = [entry](const std::string& one) { return same_name(*entry, one); };
    const bool is_mark = same_name(*entry, kJoined);  // of a job that this launcher runs within
    if (!is_mark && std::ranges::none_of(variables, replaces)) all.push_back(*entry);
  }
  for (std::string& one : variables) all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

// The child's side of starting a process, made before fork: the child of a process with threads may
// not allocate.
class Image {
 public:
  // `null_fd`: /dev/null, standard input of all but rank 0. `ends`: -1: as splitcrun's.
  Image(const Children::Setup& setup, Rank rank, int null_fd, const Output::Ends& ends)
      : setup_(setup),
        rank_(rank),
        null_fd_(null_fd),
        ends_(ends),
        variables_(variables_of(setup.options, rank, setup.job_fd)),
        environment_(environment_with(variables_)) {
    for (const std::string& word : setup.options.command) {
      arguments_.push_back(const_cast<char*>(word.c_str()));
    }
    arguments_.push_back(nullptr);
    if (setup.processors.empty()) return;
    const Processors& processors = setup.processors[rank];
    const int end = processors.back() + 1;
    processors_bytes_ = CPU_ALLOC_SIZE(end);
    processors_ = CPU_ALLOC(end);
    if (processors_ == nullptr) return;
    CPU_ZERO_S(processors_bytes_, processors_);
    for (const int processor : processors) {
      CPU_SET_S(processor, processors_bytes_, processors_);
    }
  }

  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    if (processors_ != nullptr) CPU_FREE(processors_);
  }

  // Called between fork and exec: becomes the program. Returns an errno when
  // that fails; never returns otherwise.
  int become() const noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor_) _exit(128 + SIGKILL);  // it died before the line above
    // A refusal only costs speed.
    if (processors_ != nullptr) sched_setaffinity(0, processors_bytes_, processors_);
    // Rank 0 keeps standard input: two readers of one terminal would steal from each other.
    if (rank_ != 0) dup2(null_fd_, STDIN_FILENO);
    if (ends_.out >= 0) dup2(ends_.out, STDOUT_FILENO);
    if (ends_.err >= 0) dup2(ends_.err, STDERR_FILENO);
    fcntl(setup_.job_fd, F_SETFD, 0);  // the one descriptor that passes through exec
    setup_.inherited.restore();
    execvpe(arguments_[0], arguments_.data(), environment_.data());
    return errno;
  }

 private:
  const Children::Setup& setup_;
  const Rank rank_;
  const int null_fd_;
  const Output::Ends ends_;
  const pid_t supervisor_ = getpid();
  std::vector<std::string> variables_;
  std::vector<char*> arguments_;  // with a null at the end, as environment_
  std::vector<char*> environment_;
  cpu_set_t* processors_ = nullptr;  // null: any
  std::size_t processors_bytes_ = 0;
};

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
  const Output::Ends ends =
      setup.output != nullptr ? setup.output->add(rank) : Output::Ends{.out = -1, .err = -1};
  const Image image(setup, rank, null_fd, ends);
  const pid_t pid = fork();
  if (pid == 0) {
    const int error = image.become();
    _exit(write(error_pipe, &error, sizeof(error)) > 0 ? kExitMissingProgram : kExitUsage);
  }
  const int error = errno;
  if (ends.out >= 0) close(ends.out);
  if (ends.err >= 0) close(ends.err);
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

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return found;
  while (const dirent* entry = readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    const auto stat = pid > 0 ? read_process_stat(pid) : std::nullopt;
    if (stat && stat->parent == getpid()) found.push_back(pid);
  }
  closedir(processes);
  return found;
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
