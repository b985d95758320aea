#include "am/job/bootstrap.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace am {
namespace {

constexpr int kMaxWaitMs = 500;

}  // namespace

void Bootstrap::check_blob(std::span<const std::byte> mine) const {
  if (mine.size() <= kMaxBlob) return;
  throw Error("rank " + std::to_string(rank()) + ": exchange() was given " +
              std::to_string(mine.size()) + " bytes; at most " + std::to_string(kMaxBlob) +
              " fit, so exchange an address of the rest");
}

void Bootstrap::print_last(std::string_view sentence) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::fflush(nullptr);
  struct stat about {};
  if (fstat(STDERR_FILENO, &about) != 0 || !S_ISFIFO(about.st_mode)) return;
  int unread = 0;
  for (int ms = 0; ms < kMaxWaitMs; ++ms) {
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return;
    poll(nullptr, 0, 1);
  }
}

// Not virtual itself: g++ forgets [[noreturn]] in a virtual call.
void Bootstrap::abort(int exit_code, std::string_view sentence) {
  const int code = (exit_code & 0xff) == 0 ? 1 : exit_code & 0xff;  // the kernel keeps one byte
  report_abort(code, sentence.substr(0, kMaxSentence));
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace am
