// How a process waits: for how long it stays awake, and when its wait is shown if it never sleeps.
#include "am/sync/backoff.h"

#include <gtest/gtest.h>

#include "am/types/clock.h"

namespace am {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// As long as others keep this process from running between two polls.
void spend(std::int64_t ns) {
  const std::int64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

class NobodySleeps : public testing::TestWithParam<WaitPolicy> {};

TEST_P(NobodySleeps, a_wait_is_shown_in_time_also_where_polls_take_long) {
  constexpr int kMostPolls = 40'000;  // fewer than are counted where they are fast
  Backoff backoff(GetParam(), true, Backoff::Far::kPolled);
  const std::int64_t begin = now_ns();
  int polls = 0;
  while (backoff.next() != Backoff::Step::kShow && polls < kMostPolls) {
    ++polls;
    if (GetParam() == WaitPolicy::kYield) spend(kMillisecond);
    if (polls % 4096 == 0) spend(20 * kMillisecond);
  }
  EXPECT_LT(polls, kMostPolls);
  EXPECT_GE(now_ns() - begin, 40 * kMillisecond) << "short waits are not shown";
}

INSTANTIATE_TEST_SUITE_P(By, NobodySleeps, testing::Values(WaitPolicy::kSpin, WaitPolicy::kYield),
                         [](const auto& info) {
                           return info.param == WaitPolicy::kSpin ? "spin" : "yield";
                         });

// What its sleep would cost it, and those that wake it, is worth many such yields.
TEST(Backoff, with_too_few_cores_yields_that_return_at_once_do_not_lead_to_sleep) {
  Backoff backoff(WaitPolicy::kAuto, true, Backoff::Far::kNothing);
  for (int wait = 0; wait < 3; ++wait) {
    const std::int64_t begin = now_ns();
    Backoff::Step step;
    while ((step = backoff.next()) == Backoff::Step::kYield) {
    }
    EXPECT_EQ(step, Backoff::Step::kBlock);
    EXPECT_GE(now_ns() - begin, 20'000);
    backoff.reset();
  }
}

}  // namespace
}  // namespace am
