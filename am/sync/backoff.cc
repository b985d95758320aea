#include "am/sync/backoff.h"

#include <algorithm>
#include <limits>

#include "am/types/clock.h"

namespace am {
namespace {

// An empty poll takes some 10 ns, a wake-up by futex 5 to 40 us: spin for about as long as the
// wake-up would cost, then yield a few times before paying for the sleep.
constexpr std::uint32_t kSpins = 4000;
constexpr std::uint32_t kYields = 200;
constexpr std::uint32_t kYieldsOversubscribed = 3;
// A yield that returns at once says that no other process wants this core, which sleeping would
// only leave idle. Then a process yields for longer than the sleep and the wake-up would cost. (Of
// four processes three on one core: a barrier takes 3.8 us; 10.2 if the fourth sleeps after three
// yields. Gauss of 200 by 4 processes on 2 cores 2.2 ms, and 4.)
constexpr std::int64_t kYieldingNs = 30'000;
// An answer from another node takes longer than a neighbour's time slice, and so does going to
// sleep on a descriptor and waking up.
constexpr std::uint32_t kYieldsOversubscribedFar = 100;
// Where nobody sleeps: how long before the wait is published, and how many empty polls at most.
constexpr std::int64_t kShownNs = 50'000'000;
constexpr std::uint32_t kSpinsShown = 4'000'000;
constexpr std::uint32_t kYieldsShown = 50'000;

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
  // backoff.h has what was measured.
  if (is_amd()) return {.after_short = pauses_in(30), .after_payload = pauses_in(70)};
  return {.after_short = 2, .after_payload = pauses_in(90)};
}

}  // namespace

Backoff::Backoff(WaitPolicy policy, bool oversubscribed, Far far) noexcept
    : first_look_(first_look()) {
  shown_after_ = ticks_of_ns(kShownNs);
  const std::uint32_t spins = oversubscribed ? 0 : kSpins;
  const std::uint32_t crowded =
      far == Far::kNothing ? kYieldsOversubscribed : kYieldsOversubscribedFar;
  const std::uint32_t yields = oversubscribed ? crowded : kYields;
  switch (policy) {
    case WaitPolicy::kSpin:
      spins_ = yields_ = kSpinsShown;
      last_ = Step::kShow;
      return;
    case WaitPolicy::kYield:
      spins_ = spins;
      yields_ = spins + kYieldsShown;
      last_ = Step::kShow;
      return;
    case WaitPolicy::kBlock:
      spins_ = yields_ = 0;
      last_ = Step::kBlock;
      return;
    case WaitPolicy::kAuto: break;
  }
  spins_ = spins;
  yields_ = spins + yields;
  if (oversubscribed && far == Far::kNothing) yielding_ = ticks_of_ns(kYieldingNs);
  // With a core of its own a process that nobody would wake does better to stay awake.
  if (far != Far::kPolled || oversubscribed) {
    last_ = Step::kBlock;
  } else {
    yields_ = spins + kYieldsShown;
    last_ = Step::kShow;
  }
}

const FirstLook& first_look() noexcept {
  static const FirstLook measured = measure();
  return measured;
}

}  // namespace am
