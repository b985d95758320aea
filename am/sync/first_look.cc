#include "am/sync/first_look.h"

#include <algorithm>
#include <limits>

#include "am/sync/backoff.h"
#include "am/types/clock.h"

namespace am {
namespace {

bool is_amd() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

constexpr int kPauses = 64;

// So many pauses; the least of several times, as an interruption makes one longer.
std::int64_t pauses_ns() noexcept {
  auto least = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < kPauses; ++i) Backoff::pause();
    least = std::min(least, now_ns() - begin);
  }
  // A clock that is too coarse to tell shows less than the processor's own cycles.
  constexpr std::int64_t kUsualNs = 30;
  return least < kPauses ? kPauses * kUsualNs : least;
}

FirstLook measure() noexcept {
  const std::int64_t ns = pauses_ns();
  const auto pauses_in = [ns](std::int64_t delay_ns) {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>((delay_ns * kPauses + ns / 2) / ns, kPauses));
  };
  // first_look.h has what was measured.
  if (is_amd()) return {.after_short = pauses_in(30), .after_payload = pauses_in(70)};
  return {.after_short = 2, .after_payload = pauses_in(90)};
}

}  // namespace

const FirstLook& first_look() noexcept {
  static const FirstLook measured = measure();
  return measured;
}

}  // namespace am
