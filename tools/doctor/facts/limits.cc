#include <sys/resource.h>

#include <fstream>
#include <string>

#include "am/job/descriptors.h"
#include "tools/doctor/facts/gather.h"

namespace am::doctor {
namespace {

std::uint64_t number_of(rlim_t limit) { return limit == RLIM_INFINITY ? kUnlimited : limit; }

// Whether this process has the capability of that number (/proc/self/status).
bool has_capability(int number) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::uint64_t set = 0;
    if (word == "CapEff:" && file >> std::hex >> set) return (set >> number & 1) != 0;
    std::getline(file, word);
  }
  return false;
}

}  // namespace

MemlockFacts gather_memlock(const Config& config) {
  constexpr int kIpcLock = 14;  // CAP_IPC_LOCK of the kernel
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return {.soft_bytes = number_of(limit.rlim_cur),
          .hard_bytes = number_of(limit.rlim_max),
          .privileged = has_capability(kIpcLock),
          .provider = "",
          .hardware = false,
          .segment_bytes = config.segment_bytes};
}

OpenFilesFacts gather_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return {
      .soft = number_of(limit.rlim_cur), .hard = number_of(limit.rlim_max), .open = open_files()};
}

}  // namespace am::doctor
