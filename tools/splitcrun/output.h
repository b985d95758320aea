// --label: the processes print into pipes, and what they print is passed on line by line, each line
// prefixed with the rank that wrote it: "[3] text". Nothing is lost and no line is torn, however
// the process ends.
//
// A line of more than kLongest bytes is passed on in pieces of that size, each with a newline;
// those that continue a line begin with "[3]+ " instead. An unfinished last line gets a newline.
//
// Memory is bounded: while the reader of splitcrun's output has not taken what was passed on, the
// pipes are left alone, so that the processes wait as they would if they wrote to it themselves.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "am/types/types.h"
#include "tools/splitcrun/console.h"

namespace am::launcher {

class Output {
 public:
  static constexpr std::size_t kLongest = 1 << 18;

  // The descriptors on which a process writes. Whoever starts it closes them in the launcher.
  struct Ends {
    int out;
    int err;
  };

  explicit Output(Console& console);  // throws Failure
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Pipes for one more process. Throws Failure when descriptors run out.
  Ends add(Rank rank);

  // Readable while pump() has something to do with what is for `to`, STDOUT_FILENO or
  // STDERR_FILENO; -1: not before the console has room.
  int fd(int to) const { return console_.has_room(to) ? ready_[to - 1] : -1; }

  // Passes on the whole lines that are there and for which the console has room. Takes at most one
  // pipe's worth for each process, so it returns soon.
  void pump();

  // After the last process has ended: from here on pump() takes no more from a pipe than fits into
  // it, in case a stranger was given it and writes on.
  void last_call();

  bool is_empty() const;  // no pipe has anything
  void finish();          // passes on unfinished lines and closes the pipes

  // `to` cannot be written any more: its processes get SIGPIPE, as they would without a label.
  // False: that was known already.
  bool give_up(int to);

 private:
  struct Stream {
    Rank rank;
    int from;                // read end of the pipe; -1: closed
    int to;                  // STDOUT_FILENO or STDERR_FILENO
    std::string partial;     // of the line that has no newline yet: at most kLongest bytes
    bool continues = false;  // a piece of that line has left already
    std::size_t left = 0;    // bytes to take after last_call()
  };

  int add_stream(Rank rank, int to);
  bool pump_one(int to);  // false: nothing to take, or no room for it
  void read_some(Stream& stream);
  void pass_on(Stream& stream, std::string_view text);
  void end_stream(Stream& stream);
  void close_stream(Stream& stream);

  Console& console_;
  std::array<int, 2> ready_;                      // epoll descriptors, by descriptor - 1
  std::vector<std::unique_ptr<Stream>> streams_;  // epoll keeps their addresses
  std::array<bool, 2> given_up_{};                // by descriptor - 1
  bool last_call_ = false;
};

}  // namespace am::launcher
