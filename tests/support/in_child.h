// What a child that a process forks does, and how it ends.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

namespace test {

struct Child {
  std::string said;   // what `body` returned, or what the child wrote to stderr
  int exit_code = 0;  // -1: it was killed
};

// Forks a child that leaves, with code 0, when body() has returned, if that returns.
inline Child in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {"no pipe", -1};
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    const std::string said = body();
    for (std::size_t at = 0; at < said.size();) {
      const ssize_t written = write(ends[1], said.data() + at, said.size() - at);
      if (written < 0) _exit(99);
      at += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  Child child;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) > 0;) {
    child.said.append(part.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  child.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return child;
}

// Of calls that are to be refused in a child: a line for each that says something else than that
// the process was forked from `rank`.
struct Refused {
  const char* name;
  std::function<std::string()> call;  // returns the sentence
};
template <class Calls>
std::string not_refused(const Calls& calls, unsigned rank) {
  const std::string expected = "was forked from rank " + std::to_string(rank);
  std::string all;
  for (const Refused& one : calls) {
    const std::string said = one.call();
    if (said.find(expected) == said.npos) all += std::string(one.name) + ": " + said + "\n";
  }
  return all;
}

}  // namespace test
