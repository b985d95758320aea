// --label: what the processes print comes through pipes and leaves line by line, each line behind
// the rank that wrote it. Nothing is lost and no line is torn, however the process ends.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "am/types.h"

namespace am::launcher {

class Output {
 public:
  // The descriptors on which a process writes. Whoever starts it closes them in the launcher.
  struct Ends {
    int out;
    int err;
  };

  Output();  // throws Failure
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Pipes for one more process. Throws Failure when descriptors run out.
  Ends add(Rank rank);

  int fd() const { return epoll_; }  // readable while pump() has something to do

  // Passes on the whole lines that are there. One call takes from every pipe what it held.
  void pump();

  // Passes on the rest, giving each unfinished line its newline. Call after the last process ended.
  void finish();

 private:
  struct Stream {
    Rank rank;
    int from;             // read end of the pipe; -1: closed
    int to;               // STDOUT_FILENO or STDERR_FILENO
    std::string partial;  // the line that has no newline yet
  };

  int add_stream(Rank rank, int to);
  bool read_some(Stream& stream);
  void pass_on(Stream& stream, std::string_view lines);
  void close_stream(Stream& stream);
  void give_up(int to, int error);

  int epoll_;
  std::vector<std::unique_ptr<Stream>> streams_;  // epoll keeps their addresses
};

// Writes all of `text`, waiting where it must. Returns 0 or an errno.
int write_all(int fd, std::string_view text);

// Writes "splitcrun: <sentence>" and a newline to standard error, in one piece.
void say(std::string_view sentence);

}  // namespace am::launcher
