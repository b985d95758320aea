#include "rdma/error.h"

#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "rdma/library.h"

namespace rdma {
namespace {

constexpr int kNoRegistrations = 270;  // FI_ENOMR, which libfabric has since 2.0

class Category : public std::error_category {
 public:
  const char* name() const noexcept override { return "libfabric"; }
  std::string message(int code) const override {
    if (code < FI_ERRNO_OFFSET) return std::generic_category().message(code);
    return Library::get().strerror(code);
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    if (code < FI_ERRNO_OFFSET) return {code, std::generic_category()};
    return {code, *this};
  }
};

// The soft limit of memory that may be pinned, as `ulimit -l` shows it.
std::string memlock_text() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur / 1024) + " KiB";
}

std::string open_files_text() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "unknown";
  return std::to_string(limit.rlim_cur);
}

// Whether the limit of open files leaves less than opening an endpoint takes.
bool few_files_left() {
  constexpr std::size_t kFew = 8;
  std::array<int, kFew> opened{};
  std::size_t count = 0;
  while (count < kFew && (opened[count] = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) ++count;
  const bool few = count < kFew && errno == EMFILE;
  while (count != 0) ::close(opened[--count]);
  return few;
}

}  // namespace

const std::error_category& category() {
  static const Category instance;
  return instance;
}

bool is_local_shortage(long fi_result) noexcept {
  switch (std::labs(fi_result)) {
    case FI_ENOMEM:
    case FI_EMFILE:
    case ENFILE:
    case FI_ENOSPC:
    case FI_ENOBUFS:
    case FI_EADDRINUSE:
    case FI_EADDRNOTAVAIL:
    case FI_ENOKEY:
    case kNoRegistrations: return true;
    default: return false;
  }
}

bool is_local(long fi_result) noexcept {
  switch (std::labs(fi_result)) {
    case FI_EFAULT:
    case FI_EPERM:
    case FI_EMSGSIZE:
    case FI_EBADF:
    case FI_ENOSYS:
    case FI_ENODEV:
    case FI_EOPNOTSUPP:
    case EAFNOSUPPORT:
    case FI_ETOOSMALL:
    case FI_EBADFLAGS:
    case FI_EOPBADSTATE: return true;
    default: return is_local_shortage(fi_result);
  }
}

std::string remedy(long fi_result) {
  switch (std::labs(fi_result)) {
    case FI_EFAULT:
      return "; memory that a put or store reads, or a get writes, has to stay until the transfer "
             "is synced: look for what was freed before, for a size too large, and for memory that "
             "may only be read";
    case FI_EPERM: return "; the system or a firewall of this machine forbids it";
    case FI_ENOMEM:
      return "; the limit of pinned memory (ulimit -l) is " + memlock_text() +
             ": raise it (memlock in /etc/security/limits.conf, LimitMEMLOCK= of the daemon that "
             "starts the job) or ask for less memory";
    case FI_ENOKEY: return "; every memory key is taken: register fewer ranges or larger ones";
    case kNoRegistrations:
      return "; the network registers no more memory: register fewer ranges or larger ones";
    case FI_EMFILE:
      return "; the limit of open files (ulimit -n) is " + open_files_text() +
             ", and a connection takes one: raise it (nofile in /etc/security/limits.conf, "
             "LimitNOFILE= of the daemon that starts the job)";
    case ENFILE: return "; the machine has too many open files (fs.file-max)";
    case FI_ENOSPC: return "; /dev/shm or a disk is full";
    case FI_ENOBUFS: return "; the system has no memory for network buffers";
    case FI_EADDRINUSE: return "; another process holds that port";
    case FI_EADDRNOTAVAIL:
      return "; no interface of this machine has that address, or no port is free "
             "(net.ipv4.ip_local_port_range)";
    default: return "";
  }
}

void fail(const std::string& what, long fi_result) {
  auto code = static_cast<int>(std::labs(fi_result));
  if (code == FI_EIO && few_files_left()) code = FI_EMFILE;
  throw Error("rdma: " + what + " (" + category().message(code) + ")" + remedy(code), code);
}

}  // namespace rdma
