#include "am/job/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "am/types/types.h"

namespace am {

void fill_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one, unless another thread opens something just now.
    // For reading, as what is written there shall be known to be lost.
    const int opened = open("/dev/null", O_RDONLY);
    if (opened < 0) {
      throw Error("descriptor " + std::to_string(fd) +
                  " is closed, and /dev/null cannot be opened in its place (" +
                  std::strerror(errno) + "); start the program with its standard streams open");
    }
    if (opened > STDERR_FILENO) close(opened);
  }
}

std::optional<rlimit> raise_open_files_limit() noexcept {
  rlimit before{};
  if (getrlimit(RLIMIT_NOFILE, &before) != 0) return std::nullopt;
  rlimit raised = before;
  // Some programs close every number up to the limit before an exec: more would make that slow.
  raised.rlim_cur = std::max(before.rlim_cur, std::min(before.rlim_max, kMostOpenFiles));
  if (raised.rlim_cur == before.rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) != 0) {
    return std::nullopt;
  }
  return before;
}

std::uint64_t open_files_limit() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

std::uint64_t open_files() noexcept {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; at != end;
       at.increment(error)) {
    if (error) break;
    ++count;
  }
  return count;
}

}  // namespace am
