#include <gtest/gtest.h>

#include <cstdlib>

#include "am/observe/timeline.h"

namespace am {
namespace {

TEST(ClockLine, counts_ticks_between_two_readings_and_beyond) {
  ClockLine line;
  line.first = {1'000, 5'000};
  line.last = {4'000, 6'000};  // 3 ticks a nanosecond
  EXPECT_EQ(line.at(1'000), 5'000);
  EXPECT_EQ(line.at(2'500), 5'500);
  EXPECT_EQ(line.at(4'000), 6'000);
  EXPECT_EQ(line.at(7'000), 7'000);
  EXPECT_EQ(line.at(400), 4'800);
}

TEST(ClockLine, is_exact_to_a_nanosecond_after_days) {
  constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000'000;
  constexpr std::uint64_t kBoot = std::uint64_t{1} << 62;
  ClockLine line;
  line.first = {kBoot, 7 * kDay};
  line.last = {kBoot + 3 * std::uint64_t{kDay}, 8 * kDay};
  for (std::int64_t ns = 0; ns <= kDay; ns += kDay / 97) {
    const std::int64_t at = line.at(kBoot + 3 * static_cast<std::uint64_t>(ns)) - 7 * kDay;
    EXPECT_LE(std::abs(at - ns), 1) << ns;
  }
}

TEST(ClockLine, follows_a_clock_that_is_ahead_and_runs_faster) {
  ClockLine line;
  line.first = {0, 0};
  line.last = {1'000'000, 1'000'000};
  line.before = {0, 500};
  line.after = {1'000'000, 600};  // 100 ppm
  EXPECT_EQ(line.at(0), 500);
  EXPECT_EQ(line.at(500'000), 500'550);
  EXPECT_EQ(line.at(1'000'000), 1'000'600);
}

TEST(ClockLine, of_one_moment_has_its_offset_alone) {
  ClockLine line;
  line.first = line.last = {10, 100};
  line.before = line.after = {100, -30};
  EXPECT_EQ(line.at(10), 70);
}

// The way there takes 1,000 ns and the way back anything: the shortest says most.
TEST(BestAnswer, is_the_one_that_took_least) {
  constexpr std::int64_t kAhead = 123'456'789;
  BestAnswer best;
  EXPECT_FALSE(best.any());
  std::int64_t now = 50'000;
  for (const std::int64_t back : {9'000, 1'200, 40'000, 5'000}) {
    best.add({now, now + 1'000 + kAhead, now + 1'000 + back});
    now += 100'000;
  }
  EXPECT_TRUE(best.any());
  EXPECT_EQ(best.took_ns(), 2'200);
  EXPECT_EQ(best.offset().ns, kAhead - 100);  // half of what the ways differ by
}

TEST(ReadClocks, reads_both_clocks_of_one_moment) {
  const ClockLine::Reading first = read_clocks();
  ClockLine::Reading last = read_clocks();
  while (last.ns - first.ns < 1'000'000) last = read_clocks();
  EXPECT_GT(last.ticks, first.ticks);
}

}  // namespace
}  // namespace am
