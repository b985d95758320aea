#include <gtest/gtest.h>

#include <cstdint>

#include "am/types/clock.h"

namespace {

using am::now_ns;
using am::ticks;
using am::ticks_of_ns;

// However long this takes: readings of the clock enclose those of the ticks.
TEST(Ticks, measure_the_same_times_as_the_clock) {
  const std::int64_t before = now_ns();
  const std::uint64_t first = ticks();
  const std::int64_t begin = now_ns();
  std::int64_t end = begin;
  while (end - begin < 5'000'000) end = now_ns();
  const std::uint64_t last = ticks();
  const std::int64_t after = now_ns();
  const auto passed = static_cast<double>(last - first);
  EXPECT_GE(passed, 0.9 * static_cast<double>(ticks_of_ns(end - begin)));
  EXPECT_LE(passed, 1.1 * static_cast<double>(ticks_of_ns(after - before)));
}

TEST(Ticks, of_no_time_are_none) { EXPECT_EQ(ticks_of_ns(0), 0U); }

}  // namespace
