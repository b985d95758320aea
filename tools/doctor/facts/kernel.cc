#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "am/types/clock.h"
#include "rdma/error.h"
#include "rdma/unmap_monitor.h"
#include "shmem/cross_memory.h"
#include "shmem/doorbell.h"
#include "shmem/node.h"
#include "tools/doctor/facts/gather.h"

namespace am::doctor {
namespace {

// At the same address in processes that are forked.
std::uint64_t known_word = shmem::CrossMemory::kKnownWord;

// A child that does `work` and ends with the exit code that it returns.
template <class Work>
pid_t start_child(const Work& work) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(work());
}

int exit_code_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// 0, or the errno of the attempt.
int try_to_read(pid_t pid) {
  errno = 0;
  if (shmem::CrossMemory::works_with(pid, reinterpret_cast<std::uintptr_t>(&known_word))) return 0;
  return errno == 0 ? EIO : errno;
}

std::optional<int> ptrace_scope() {
  int scope = 0;
  if (!(std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope)) return std::nullopt;
  return scope;
}

const std::string kClock = "/sys/devices/system/clocksource/clocksource0/";

}  // namespace

// Not this process reads but a sibling: a parent may read what siblings may not (yama).
CrossMemoryFacts gather_cross_memory(const Config& config) {
  CrossMemoryFacts facts{.wanted = config.cross_memory, .ptrace_scope = ptrace_scope()};
  if (!facts.wanted) return facts;
  const pid_t target = start_child([] {
    while (true) pause();
    return 0;
  });
  if (target < 0) return facts;
  const pid_t reader = start_child([target] { return try_to_read(target); });
  const int code = reader < 0 ? -1 : exit_code_of(reader);
  kill(target, SIGKILL);
  exit_code_of(target);
  facts.tried = code >= 0;
  facts.error = std::max(code, 0);
  return facts;
}

UserfaultFacts gather_userfault() {
  try {
    const rdma::UserfaultMonitor monitor;
    return {};
  } catch (const rdma::Error& error) {
    return {.refusal = error.what()};
  }
}

MembarrierFacts gather_membarrier() { return {.enrolled = shmem::Fence::enroll()}; }

ClockFacts gather_clock() {
  ClockFacts facts;
  std::ifstream(kClock + "current_clocksource") >> facts.source;
  std::ifstream available(kClock + "available_clocksource");
  for (std::string name; available >> name;) facts.available.push_back(name);
  constexpr int kBatches = 10, kReads = 200;
  facts.read_ns = std::numeric_limits<double>::max();
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::int64_t begin = now_ns();
    std::int64_t end = begin;
    for (int i = 0; i < kReads; ++i) end = now_ns();
    facts.read_ns = std::min(facts.read_ns, static_cast<double>(end - begin) / kReads);
  }
  return facts;
}

CoresFacts gather_cores(const Config& config) {
  return {.online = static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))),
          .allowed = shmem::allowed_processors(),
          .quota = shmem::quota_cores("/proc/self/cgroup", "/sys/fs/cgroup"),
          .spins = config.wait == WaitPolicy::kSpin,
          .bound = {},
          .ranks = {}};
}

}  // namespace am::doctor
