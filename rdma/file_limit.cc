#include "rdma/file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace rdma {
namespace {

constexpr rlim_t kEnough = 1 << 20;

}  // namespace

std::uint64_t raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough)), limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
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

}  // namespace rdma
