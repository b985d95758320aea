#include "rdma/error.h"

#include <rdma/fi_errno.h>
#include <sys/resource.h>

#include <cstdlib>

#include "rdma/library.h"

namespace rdma {
namespace {

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

}  // namespace

const std::error_category& category() {
  static const Category instance;
  return instance;
}

std::string remedy(long fi_result) {
  switch (std::labs(fi_result)) {
    case FI_ENOMEM:
      return "; the limit of pinned memory (ulimit -l) is " + memlock_text() +
             ": raise it (memlock in /etc/security/limits.conf, LimitMEMLOCK= of the daemon that "
             "starts the job) or ask for less memory";
    case FI_ENOKEY: return "; every memory key is taken: register fewer ranges or larger ones";
    case FI_EMFILE: return "; raise the limit of open files (ulimit -n)";
    case FI_EADDRINUSE: return "; another process holds that port";
    case FI_EADDRNOTAVAIL: return "; no interface of this machine has that address";
    default: return "";
  }
}

void fail(const std::string& what, long fi_result) {
  const auto code = static_cast<int>(std::labs(fi_result));
  throw Error("rdma: " + what + " (" + category().message(code) + ")" + remedy(code), code);
}

}  // namespace rdma
