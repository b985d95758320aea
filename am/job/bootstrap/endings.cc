#include "am/job/bootstrap/endings.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace am {
namespace {

constexpr int kMaxWaitMs = 500;

// Whether `fd` can be written now or soon, as far as a page.
bool has_room(int fd) {
  pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&room, 1, kMaxWaitMs) != 0;
}

constexpr int kUnknown = -1;

// Never destroyed: the handlers run among the destructors of other variables.
std::function<void(int)>& report() {
  static auto* const function = new std::function<void(int)>;
  return *function;
}
pid_t expecting = 0;  // the process that is not to leave; 0: none

// True if that was no time to leave.
bool take_note(int exit_code) {
  if (expecting != getpid()) return false;
  expecting = 0;
  report()(exit_code);
  return exit_code == 0 || exit_code == kUnknown;
}

// glibc goes on with the handlers that are left and takes the last exit code it was given.
void on_exit_handler(int exit_code, void*) {
  if (take_note(exit_code)) std::exit(1);
}

void on_quick_exit_handler() {
  if (take_note(kUnknown)) std::quick_exit(1);
}

}  // namespace

void print_sentence(std::string_view sentence) {
  const std::string line = std::string(sentence) + "\n";
  if (has_room(STDERR_FILENO)) (void)!write(STDERR_FILENO, line.data(), line.size());
}

void print_last_sentence(std::string_view sentence) {
  print_sentence(sentence);
  if (has_room(STDOUT_FILENO)) std::fflush(stdout);
  struct stat about {};
  if (fstat(STDERR_FILENO, &about) != 0 || !S_ISFIFO(about.st_mode)) return;
  int unread = 0;
  for (int ms = 0; ms < kMaxWaitMs; ++ms) {
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return;
    poll(nullptr, 0, 1);
  }
}

void expect_no_exit(std::function<void(int)> new_report) {
  static const bool registered =
      on_exit(on_exit_handler, nullptr) == 0 && std::at_quick_exit(on_quick_exit_handler) == 0;
  if (!registered) throw Error("no room for another handler of exit()");
  report() = std::move(new_report);
  expecting = getpid();
}

void expect_no_exit(Rank rank, std::function<void(int)> end_others) {
  expect_no_exit([rank, end_others = std::move(end_others)](int code) {
    if (code <= 0) print_last_sentence(early_exit_sentence(rank, code));
    if (end_others) end_others(code <= 0 ? 1 : code);
  });
}

void permit_exit() { expecting = 0; }

std::string early_exit_sentence(Rank rank, int exit_code) {
  const std::string how = exit_code == kUnknown
                              ? "left by quick_exit()"
                              : "left with exit code " + std::to_string(exit_code);
  return "rank " + std::to_string(rank) + ": " + how +
         " before it had finished the job (the end of run() or Job::finish()), so the job ends";
}

}  // namespace am
