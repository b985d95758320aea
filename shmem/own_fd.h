#pragma once

#include <unistd.h>

#include <utility>

#include "shmem/descriptor.h"

namespace shmem {

// A descriptor above those of the standard streams that closes itself unless it is kept.
class OwnFd {
 public:
  explicit OwnFd(int fd) : fd_(above_standard_streams(fd)) {}  // negative: none
  OwnFd(const OwnFd&) = delete;
  OwnFd& operator=(const OwnFd&) = delete;
  ~OwnFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int keep() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace shmem
