#include "tools/doctor/facts/in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

namespace am::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSaid = 4096;
constexpr int kThrown = 3;  // exit code of a child whose work has thrown

// Both ends of a pipe; closes what is open.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  bool is_open() const { return ends_[0] >= 0; }
  int from() const { return ends_[0]; }
  int into() const { return ends_[1]; }
  void close_end(std::size_t which) {
    const int fd = std::exchange(ends_[which], -1);
    if (fd >= 0) close(fd);
  }

 private:
  std::array<int, 2> ends_{};
};

void write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, int out, int said) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(said, STDERR_FILENO);
  int code = 0;
  std::string text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    code = kThrown;
  }
  write_all(out, text);
  _exit(code);
}

// Appends what there is; false at the end.
bool read_some(int fd, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Until both are at their end; false: not before `deadline`.
bool read_both(Pipe& out, Pipe& said, ChildResult& result, Clock::time_point deadline) {
  pollfd watched[] = {{.fd = out.from(), .events = POLLIN, .revents = 0},
                      {.fd = said.from(), .events = POLLIN, .revents = 0}};
  std::string* const texts[] = {&result.out, &result.said};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    poll(watched, 2, static_cast<int>(left));
    for (std::size_t i = 0; i < 2; ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      if (!read_some(watched[i].fd, *texts[i])) watched[i].fd = -1;
    }
  }
  return true;
}

std::string describe_end(int status, const std::string& out) {
  if (WIFSIGNALED(status)) {
    const char* const name = sigabbrev_np(WTERMSIG(status));
    return std::string("crashed (SIG") + (name == nullptr ? "?" : name) + ")";
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return "";
  if (code == kThrown) return "failed: " + out;
  return "ended with exit code " + std::to_string(code);
}

std::string patience_text(std::chrono::milliseconds patience) {
  return "did not answer within " + std::to_string(patience.count() / 1000) + " s";
}

}  // namespace

ChildResult in_child(const std::function<std::string()>& work, std::chrono::milliseconds patience) {
  ChildResult result;
  Pipe out, said;
  const pid_t pid = out.is_open() && said.is_open() ? fork() : -1;
  if (pid < 0) {
    result.failure =
        std::string("could not be started in a process (") + std::strerror(errno) + ")";
    return result;
  }
  if (pid == 0) be_child(work, out.into(), said.into());
  out.close_end(1);
  said.close_end(1);
  const bool in_time = read_both(out, said, result, Clock::now() + patience);
  if (!in_time) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.failure = in_time ? describe_end(status, result.out) : patience_text(patience);
  result.said.resize(std::min(result.said.size(), kMostSaid));
  return result;
}

}  // namespace am::doctor
