#include "am/job/bootstrap/last_words.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace am {
namespace {

constexpr int kMaxWaitMs = 500;

// Whether `fd` can be written now or soon, as far as a page.
bool has_room(int fd) {
  pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&room, 1, kMaxWaitMs) != 0;
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

}  // namespace am
