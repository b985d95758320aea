// What splitcrun writes itself: the lines of --label and its own sentences. Threads write them, so
// that a reader that has stopped reading blocks nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace am::launcher {

// One thread uses it. `to` is STDOUT_FILENO or STDERR_FILENO everywhere; where both are one file
// (2>&1) one thread writes both, in the order of the calls, so that no line is torn.
class Console {
 public:
  // Queued bytes from which on has_room() is false. A queue can grow beyond that: add() takes all.
  static constexpr std::size_t kRoom = 1 << 20;

  // Starts the threads, which block all signals. Throws Failure. What is still queued when the
  // process exits is lost.
  Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  // Queues `text`, which somebody has asked for, to be written in one piece. Never waits. After an
  // error it is dropped, and is_lossy() from then on.
  void add(int to, std::string_view text) { add(to, text, true); }

  // Queues "splitcrun: <sentence>" and a newline for standard error; say() what nobody has asked
  // for, and who misses it loses nothing.
  void say(std::string_view sentence);
  void answer(std::string_view sentence);

  // Bytes that add() was called with, in all.
  std::uint64_t given() const { return given_; }

  // What has become of what is for one descriptor.
  struct State {
    std::size_t queued = 0;          // bytes not yet written
    std::size_t queued_in_file = 0;  // ... nor those for the other, if both are one file
    int error = 0;                   // an errno of write; 0: none so far
    bool is_lossy = false;           // some of what add() and answer() got is lost by that error
  };
  State state(int to) const;
  std::uint64_t written() const;  // bytes in all

  // Queue another piece now, or wait until fd() is readable.
  bool has_room(int to) const { return state(to).queued_in_file < kRoom; }
  bool idle(int to) const { return state(to).queued == 0; }  // nothing is queued or being written
  bool idle() const { return idle(1) && idle(2); }
  int fd() const { return wake_; }  // readable when any of these has changed
  void acknowledge();               // makes it unreadable until the next change

 private:
  struct File;

  void add(int to, std::string_view text, bool asked_for);

  const int wake_;
  std::uint64_t given_ = 0;
  std::shared_ptr<File> files_[2];  // of standard output and standard error; perhaps the same
};

// Writes "splitcrun: <sentence>" and a newline to standard error, waiting for its reader where it
// must: for a process that has nothing else to do. No Console may be at work in it.
void say_and_wait(std::string_view sentence);

}  // namespace am::launcher
