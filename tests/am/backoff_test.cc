// How a process waits that does not sleep.
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

}  // namespace
}  // namespace am
