// What this room does with descriptors and signals of the process, which are the program's as well.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace rdma {

// What shmem/descriptor.h, which this folder may not include, has under this name: a descriptor
// that is none of 0, 1 and 2.
inline int above_standard_streams(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

// For as long as it lives, the calling thread gets no signals. Threads that it makes inherit that:
// signals are for the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Gives every TCP socket of this process that is connected and has less than 2 MiB of receive
// buffer at least that much, as far as the system permits (net.ipv4.tcp_rmem).
//
// For the provider sockets. It leaves the beginning of a header in the kernel until the rest has
// come. On loopback, whose segments have 64 KiB, those few bytes can be the end of one that the
// kernel counts as 115 KiB until all of it is read. What is left of a buffer of the usual 128 KiB
// is less than a segment, so the kernel says that there is no room, the rest of the header never
// comes, and both wait for ever: seen in 1 of 80 floods of messages of 4 KiB. A connection that
// stands still for this goes on as soon as its buffer is larger.
//
// Two system calls a descriptor of this process, six a socket that is changed. Any thread. Throws
// nothing but std::bad_alloc; a system that refuses leaves things as they were.
void widen_receive_windows();

}  // namespace rdma
