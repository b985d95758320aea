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

// The earlier of two times, or the shorter of two durations. A negative one is none.
constexpr std::int64_t earlier(std::int64_t a, std::int64_t b) noexcept {
  const bool longer = a < 0 || b < 0;
  return longer == (a > b) ? a : b;
}

// A clock for short times of one process, by the processor's own counter where there is one: read
// in half the time of now_ns(). Any thread.
//
// Where the counters of two cores differ, a time between them is wrong by that, or "negative",
// which is a very long one.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // <x86intrin.h> is 60,000 lines
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

// How many ticks that time takes, to a percent or so. The first call measures it, which takes 50 us
// or more.
std::uint64_t ticks_of_ns(std::int64_t ns);

}  // namespace am
