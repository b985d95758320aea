#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "shmem/descriptor.h"
#include "shmem/region.h"

namespace shmem {
namespace {

// What an attempt came to: a descriptor, or an error, or another file in the region's place.
struct Attempt {
  int fd = -1;
  int error = 0;
  bool is_other = false;
  struct stat found {};
};

bool is_same(const Region::Address& address, const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_ino == address.inode &&
         static_cast<std::uint64_t>(status.st_size) == address.bytes;
}

Attempt failed(int error) { return {.error = error}; }

// `raw` if it is that file; another process may have taken the pid since.
Attempt checked(int raw, const Region::Address& address) {
  OwnFd fd(raw);
  Attempt attempt;
  if (!fd || fstat(fd.fd(), &attempt.found) != 0) return failed(errno);
  attempt.is_other = !is_same(address, attempt.found);
  if (!attempt.is_other) attempt.fd = fd.keep();
  return attempt;
}

Attempt try_proc(const Region::Address& address) {
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
  // stat first: opening what took the place of a dead neighbour's region could have effects.
  Attempt attempt;
  if (stat(path.c_str(), &attempt.found) != 0) return failed(errno);
  attempt.is_other = !is_same(address, attempt.found);
  if (attempt.is_other) return attempt;
  return checked(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), address);
}

// Needs no /proc, but a kernel (5.6) and a filter of system calls that allow it.
Attempt try_pidfd(const Region::Address& address) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  const OwnFd process(static_cast<int>(syscall(SYS_pidfd_open, address.pid, 0)));
  if (!process) return failed(errno);
  return checked(static_cast<int>(syscall(SYS_pidfd_getfd, process.fd(), address.fd, 0)), address);
#else
  return failed(address.fd < 0 ? EBADF : ENOSYS);
#endif
}

bool lives(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

// Whether /proc has the numbers of processes that this process knows them by.
bool proc_is_of_this_namespace() {
  char target[32] = {};
  const ssize_t length = readlink("/proc/self", target, sizeof target - 1);
  return length > 0 && std::to_string(getpid()) == std::string_view(target);
}

// Whether it is certain that there is no such region any more.
bool is_gone(const Region::Address& address, const Attempt& proc, const Attempt& pidfd) {
  if (pidfd.is_other || pidfd.error == EBADF || !lives(address.pid)) return true;
  const bool absent = proc.is_other || proc.error == ENOENT || proc.error == ESRCH;
  return absent && proc_is_of_this_namespace();
}

[[noreturn]] void throw_gone(const Region::Address& address, const Attempt& last) {
  const std::string begin = "shmem: cannot open " + name_of(address) + ": ";
  if (!last.is_other) throw Gone(begin + "that process has ended or has closed it");
  throw Gone(begin + "a file with inode " + std::to_string(last.found.st_ino) + " and " +
             std::to_string(last.found.st_size) + " bytes is there instead of inode " +
             std::to_string(address.inode) +
             "; the process that made the region has ended, or has closed it");
}

[[noreturn]] void throw_unreachable(const Region::Address& address, const Attempt& proc,
                                    const Attempt& pidfd) {
  const std::string begin = "shmem: cannot open " + name_of(address) + ": ";
  if (proc_is_of_this_namespace()) {
    throw Unreachable(begin + std::strerror(proc.error) +
                      "; both processes must be of one user in one user namespace, and dumpable");
  }
  throw Unreachable(begin + "/proc is of another PID namespace, and without it the kernel says \"" +
                    std::strerror(pidfd.error) + "\"; mount /proc for this one (unshare " +
                    "--mount-proc)");
}

}  // namespace

std::string name_of(const Region::Address& address) {
  return "the region of process " + std::to_string(address.pid) + " (descriptor " +
         std::to_string(address.fd) + ", " + std::to_string(address.bytes) + " bytes)";
}

int open_neighbours(const Region::Address& address) {
  if (address.pid == getpid()) {
    const Attempt own = checked(fcntl(address.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), address);
    if (own.fd < 0) throw_gone(address, own);
    return own.fd;
  }
  const Attempt proc = try_proc(address);
  if (proc.fd >= 0) return proc.fd;
  const Attempt pidfd = try_pidfd(address);
  if (pidfd.fd >= 0) return pidfd.fd;
  if (is_gone(address, proc, pidfd)) throw_gone(address, proc.is_other ? proc : pidfd);
  throw_unreachable(address, proc, pidfd);
}

}  // namespace shmem
