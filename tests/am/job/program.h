// Runs a program as a person would: arguments in, text and exit code out.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace am::test {

class Program {
 public:
  struct Result {
    int exit_code;  // 128 + the signal's number when a signal ended it
    std::string out;
    std::string err;
  };

  // Starts command[0] (a path, or looked up in PATH) with `input` as its standard input, at most
  // 4096 bytes. Throws std::system_error.
  explicit Program(const std::vector<std::string>& command, std::string_view input = "");
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();  // kills it if it was not waited for

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Returns what its standard output has said so far, once that is `count` lines or has ended.
  const std::string& wait_for_lines(int count);

  // Returns what its standard error has said so far, once `text` is in it or it has ended. Its
  // standard output is not read meanwhile, unless asked for.
  const std::string& wait_for_error(std::string_view text, bool also_read_output = false);

  // Waits until it has ended, and leaves what it prints where it is. Returns its exit code.
  int wait_unread();

  // Waits until it has ended and until every process that could still write to its output has: a
  // process left behind would keep this call waiting for ever.
  Result finish();

 private:
  bool read_more(bool also_out = true);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Result result_{};
};

// Start to finish in one go.
Program::Result run(const std::vector<std::string>& command, std::string_view input = "");

// The lines of `text`, without their newlines.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace am::test
