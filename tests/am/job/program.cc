#include "tests/am/job/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <system_error>
#include <utility>

namespace am::test {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    from = ends[0];
    into = ends[1];
  }
  int from;
  int into;
};

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Appends what there is; closes and forgets the pipe at its end.
void read_into(std::string& text, int& from) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(from, buffer.data(), buffer.size());
  if (got > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    close(std::exchange(from, -1));
  }
}

}  // namespace

Program::Program(const std::vector<std::string>& command, std::string_view input) {
  const Pipe in, out, err;
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    dup2(in.from, STDIN_FILENO);
    dup2(out.into, STDOUT_FILENO);
    dup2(err.into, STDERR_FILENO);
    become(command);
  }
  for (const int theirs : {in.from, out.into, err.into}) close(theirs);
  out_ = out.from;
  err_ = err.from;
  const bool written =
      write(in.into, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  close(in.into);
  if (!written) throw std::system_error(errno, std::generic_category(), "write");
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {out_, err_}) {
    if (fd >= 0) close(fd);
  }
}

void Program::signal(int number) const { kill(pid_, number); }

const std::string& Program::wait_for_lines(int count) {
  while (std::ranges::count(result_.out, '\n') < count && read_more()) {
  }
  return result_.out;
}

const std::string& Program::wait_for_error(std::string_view text, bool also_read_output) {
  while (result_.err.find(text) == std::string::npos && read_more(also_read_output)) {
  }
  return result_.err;
}

int Program::wait_unread() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Program::Result Program::finish() {
  while (read_more()) {
  }
  result_.exit_code = wait_unread();
  return result_;
}

// False once all of it has ended.
bool Program::read_more(bool also_out) {
  if ((out_ < 0 || !also_out) && err_ < 0) return false;
  pollfd watched[] = {{.fd = also_out ? out_ : -1, .events = POLLIN, .revents = 0},
                      {.fd = err_, .events = POLLIN, .revents = 0}};
  poll(watched, 2, -1);
  if (watched[0].revents != 0) read_into(result_.out, out_);
  if (watched[1].revents != 0) read_into(result_.err, err_);
  return true;
}

Program::Result run(const std::vector<std::string>& command, std::string_view input) {
  return Program(command, input).finish();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace am::test
