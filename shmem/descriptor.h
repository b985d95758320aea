#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace shmem {

// Moves a descriptor that was just made away from the numbers 0, 1 and 2, which it gets when the
// program has closed its standard streams: what the program prints would go into it, and
// reading standard input would take from it. Returns `fd` itself if it is 3 or above; else a
// duplicate that is, closed by exec, and `fd` is closed. Negative: none, with errno as it was, or
// as the duplication left it. At most two system calls; any thread.
inline int above_standard_streams(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

// A descriptor above those of the standard streams that closes itself unless it is kept.
class OwnFd {
 public:
  OwnFd() = default;                                                    // none
  explicit OwnFd(int fd) noexcept : fd_(above_standard_streams(fd)) {}  // negative: none
  OwnFd(OwnFd&& other) noexcept : fd_(other.keep()) {}
  OwnFd& operator=(OwnFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnFd() {
    if (fd_ >= 0) close(fd_);
  }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  int keep() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace shmem
