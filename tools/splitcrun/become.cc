#include "tools/splitcrun/become.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "am/job/config/variables.h"

namespace am::launcher {
namespace {

std::vector<std::string> variables_of(const Role& role) {
  std::vector<std::string> all = {
      "SPLITC_RANK=" + std::to_string(role.rank),
      "SPLITC_SIZE=" + std::to_string(role.size),
      "SPLITC_JOB_FD=" + std::to_string(role.job_fd),
  };
  if (role.node >= 0) all.push_back("SPLITC_NODE=" + std::to_string(role.node));
  if (role.verbose) all.emplace_back("SPLITC_VERBOSE=1");
  if (!role.statistics.empty()) all.push_back("SPLITC_STATS=" + role.statistics);
  if (role.watch_near) all.emplace_back("SPLITC_WATCH_NEAR=1");
  if (!role.trace.empty()) all.push_back("SPLITC_TRACE=" + role.trace);
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

}  // namespace

Image::Image(const Role& role, const std::vector<std::string>& command)
    : role_(role), variables_(variables_of(role)), environment_(environment_with(variables_)) {
  for (const std::string& word : command) arguments_.push_back(const_cast<char*>(word.c_str()));
  arguments_.push_back(nullptr);
  if (role.processors == nullptr) return;
  const int end = role.processors->back() + 1;
  processors_bytes_ = CPU_ALLOC_SIZE(end);
  processors_ = CPU_ALLOC(end);
  if (processors_ == nullptr) return;
  CPU_ZERO_S(processors_bytes_, processors_);
  for (const int processor : *role.processors) {
    CPU_SET_S(processor, processors_bytes_, processors_);
  }
}

Image::~Image() {
  if (processors_ != nullptr) CPU_FREE(processors_);
}

int Image::become() const noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != role_.supervisor) _exit(128 + SIGKILL);  // it died before the line above
  // A refusal only costs speed.
  if (processors_ != nullptr) sched_setaffinity(0, processors_bytes_, processors_);
  // Rank 0 keeps standard input: two readers of one terminal would steal from each other.
  if (role_.rank != 0) dup2(role_.null_fd, STDIN_FILENO);
  if (role_.ends.out >= 0) dup2(role_.ends.out, STDOUT_FILENO);
  if (role_.ends.err >= 0) dup2(role_.ends.err, STDERR_FILENO);
  fcntl(role_.job_fd, F_SETFD, 0);  // the one descriptor that passes through exec
  role_.inherited.restore();
  execvpe(arguments_[0], arguments_.data(), environment_.data());
  return errno;
}

}  // namespace am::launcher
