#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace rdma {

// The same as shmem/descriptor.h, which this folder may not include.
//
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

// Those of this process that are open now; empty when the system does not say. One of them is gone
// on return: that of the folder that lists them.
std::vector<int> open_descriptors();

}  // namespace rdma
