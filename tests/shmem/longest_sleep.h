// How long a test may sleep on a doorbell that it expects to be rung.
#pragma once

#include <cstdint>

#include "shmem/doorbell.h"

namespace shmem::test {

// A test does not end if such a sleep does not end sooner.
inline constexpr std::int64_t kForever = 3'600'000'000'000;

enum class Among : std::uint8_t { kProcesses, kThreads };

// So that a wake-up that gets lost shows; but for those among threads that the kernel's fence may
// miss, where one has ended (shmem/doorbell.h).
inline std::int64_t longest_sleep_ns(const Fence& fence, Among among = Among::kThreads) {
  const bool may_miss = among == Among::kThreads && fence.kernel_assists();
  return may_miss ? SleepLimit::kShortestNs : kForever;
}

}  // namespace shmem::test
