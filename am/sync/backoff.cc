#include "am/sync/backoff.h"

namespace am {
namespace {

// An empty poll takes some 10 ns, a wake-up by futex 5 to 40 us: spin for about as long as the
// wake-up would cost, then yield a few times before paying for the sleep.
constexpr std::uint32_t kSpins = 4000;
constexpr std::uint32_t kYields = 200;
constexpr std::uint32_t kYieldsOversubscribed = 3;
// An answer from another node takes longer than a neighbour's time slice, and so does going to
// sleep on a descriptor and waking up.
constexpr std::uint32_t kYieldsOversubscribedFar = 100;
// Where nobody sleeps: how long before the wait is published, and how many empty polls at most.
constexpr std::int64_t kShownNs = 50'000'000;
constexpr std::uint32_t kSpinsShown = 4'000'000;
constexpr std::uint32_t kYieldsShown = 50'000;

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
  // With a core of its own a process that nobody would wake does better to stay awake.
  if (far != Far::kPolled || oversubscribed) {
    last_ = Step::kBlock;
  } else {
    yields_ = spins + kYieldsShown;
    last_ = Step::kShow;
  }
}

}  // namespace am
