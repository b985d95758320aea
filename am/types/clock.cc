#include "am/types/clock.h"

#include <limits>

namespace am {
namespace {

// Both clocks at one moment.
struct Moment {
  std::int64_t ns;
  std::uint64_t ticks;
};

// The best of several attempts: a process that lost its core between the two readings tries again.
Moment now() noexcept {
  Moment best{};
  auto shortest = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::int64_t before = now_ns();
    const std::uint64_t count = ticks();
    const std::int64_t took = now_ns() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, count};
  }
  return best;
}

double ticks_per_ns() noexcept {
  constexpr std::int64_t kMeasuredNs = 50'000;
  const Moment begin = now();
  Moment end = now();
  while (end.ns - begin.ns < kMeasuredNs) end = now();
  return static_cast<double>(end.ticks - begin.ticks) / static_cast<double>(end.ns - begin.ns);
}

}  // namespace

std::uint64_t ticks_of_ns(std::int64_t ns) {
  static const double per_ns = ticks_per_ns();
  return static_cast<std::uint64_t>(per_ns * static_cast<double>(ns));
}

}  // namespace am
