#pragma once

#include <cstdint>
#include <ctime>

namespace am {

// Nanoseconds since some moment in the past. Any thread. (The time of
// std::chrono::steady_clock, without its large header.)
inline std::int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace am
