#include "tests/shmem/in_child.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace shmem::test {
namespace {

void require(bool works, const char* call) {
  if (!works) throw std::system_error(errno, std::generic_category(), call);
}

// A child and the end of the pipe on which it reports.
struct Child {
  pid_t pid;
  int from;
};

[[noreturn]] void report(int to, const std::function<std::string()>& work) {
  std::string text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
  }
  _exit(write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

Child start(const std::function<std::string()>& work) {
  std::array<int, 2> pipe_ends{};
  require(pipe2(pipe_ends.data(), O_CLOEXEC) == 0, "pipe");
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) report(pipe_ends[1], work);
  close(pipe_ends[1]);
  return {child, pipe_ends[0]};
}

std::string result_of(const Child& child) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = read(child.from, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(child.from);
  int status = 0;
  require(waitpid(child.pid, &status, 0) == child.pid, "waitpid");
  if (WIFSIGNALED(status)) return std::string("died: ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "died: exit code " + std::to_string(WEXITSTATUS(status));
  return text;
}

}  // namespace

std::string in_child(const std::function<std::string()>& work) { return result_of(start(work)); }

std::vector<std::string> in_children(unsigned count,
                                     const std::function<std::string(unsigned)>& work) {
  std::vector<Child> children;
  for (unsigned i = 0; i < count; ++i) children.push_back(start([&, i] { return work(i); }));
  std::vector<std::string> results;
  for (const Child& child : children) results.push_back(result_of(child));
  return results;
}

void refuse_system_call(int number, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = 4, .filter = program};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
  require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "PR_SET_SECCOMP");
}

bool can_refuse_system_calls() { return prctl(PR_GET_SECCOMP) >= 0; }

bool mount_private_tmpfs(const std::string& folder, std::size_t bytes) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    // Who has no numbers there can make no files in what is mounted.
    std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
  }
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  const std::string size = "size=" + std::to_string(bytes);
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

}  // namespace shmem::test
