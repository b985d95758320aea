// How long a round trip takes, how much may be in flight, and how fast it is sent.
#include <gtest/gtest.h>

#include <algorithm>

#include "am/link/datagram/window/congestion.h"
#include "tests/am/link/datagram/window/random.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

constexpr std::int64_t kHeld = 200'000;

TEST(RoundTrip, without_a_sample_the_initial_one_is_assumed) {
  const RoundTrip trip({.initial_ns = 5'000'000, .variance_ns = 1'000});
  EXPECT_FALSE(trip.known());
  EXPECT_EQ(trip.timeout_ns(0, kHeld), 5'201'000);
}

TEST(RoundTrip, equal_samples_lead_there) {
  RoundTrip trip({});
  for (int i = 0; i < 200; ++i) trip.sample(80'000);
  EXPECT_NEAR(static_cast<double>(trip.smoothed_ns()), 80'000, 80);
  EXPECT_NEAR(static_cast<double>(trip.timeout_ns(0, 0)), 80'000 + 250'000, 1'000);
  EXPECT_NEAR(static_cast<double>(trip.reordering_ns()), 90'000, 100);
}

TEST(RoundTrip, each_timeout_in_a_row_is_twice_as_long_up_to_the_longest) {
  RoundTrip trip({.longest_ns = 1'000'000'000});
  for (int i = 0; i < 100; ++i) trip.sample(50'000);
  std::int64_t last = trip.timeout_ns(0, kHeld);
  for (unsigned backoff = 1; backoff < 100; ++backoff) {
    const std::int64_t now = trip.timeout_ns(backoff, kHeld);
    EXPECT_EQ(now, std::min<std::int64_t>(2 * last, 1'000'000'000));
    last = now;
  }
}

TEST(RoundTrip, one_that_was_much_too_long_is_forgotten_soon) {
  RoundTrip trip({});
  trip.sample(10'000'000'000);
  for (int i = 0; i < 20; ++i) trip.sample(80'000);
  EXPECT_LT(trip.smoothed_ns(), 400'000);
}

TEST(RoundTrip, any_samples_leave_timeouts_within_bounds) {
  Random random(test::seed());
  RoundTrip trip({});
  for (int i = 0; i < 100'000; ++i) {
    trip.sample(random.between(-1'000, std::int64_t{1} << random.below(50)));
    const std::int64_t timeout = trip.timeout_ns(static_cast<unsigned>(random.below(70)), kHeld);
    ASSERT_GT(timeout, 0);
    ASSERT_LE(timeout, 1'000'000'000);
  }
}

TEST(Congestion, timeouts_in_which_nothing_was_lost_leave_no_trace) {
  Congestion congestion;
  for (std::int64_t now = 10; congestion.window() < 64; now += 10) {
    congestion.acknowledged(16, now - 5, true);
  }
  const std::uint32_t before = congestion.window();
  for (unsigned count = 1; count <= 5; ++count) congestion.timed_out(count, 1'000 + count);
  EXPECT_EQ(congestion.window(), 1U);
  congestion.undo_timeouts();
  EXPECT_EQ(congestion.window(), before);
  for (unsigned count = 1; count <= 2; ++count) congestion.timed_out(count, 2'000 + count);
  congestion.keep_timeouts();
  congestion.undo_timeouts();
  EXPECT_EQ(congestion.window(), 1U);
}

TEST(RoundTrip, the_least_is_not_what_a_process_lets_it_wait) {
  RoundTrip round_trip({});
  for (int i = 0; i < 1'000; ++i) round_trip.sample(i % 4 == 0 ? 20'000 : 3'000'000);
  EXPECT_GT(round_trip.smoothed_ns(), 1'000'000);
  EXPECT_LE(round_trip.least_ns(), 25'000);
  for (int i = 0; i < 100; ++i) round_trip.sample(3'000'000);  // the network has become slower
  EXPECT_GT(round_trip.least_ns(), 2'000'000);
}

TEST(Congestion, slow_start_doubles_in_a_round_trip_up_to_the_window) {
  Congestion congestion;
  std::int64_t now = 1;
  for (std::uint32_t expected = Congestion::kInitial; expected < kWindow; expected *= 2, ++now) {
    ASSERT_EQ(congestion.window(), expected);
    congestion.acknowledged(expected, now, true);
  }
  congestion.acknowledged(kWindow, now, true);
  EXPECT_EQ(congestion.window(), kWindow);
}

TEST(Congestion, what_is_not_used_does_not_grow) {
  Congestion congestion;
  congestion.acknowledged(100, 1, false);
  EXPECT_EQ(congestion.window(), Congestion::kInitial);
}

TEST(Congestion, losses_of_one_round_trip_count_once) {
  Congestion congestion;
  congestion.acknowledged(84, 1, true);
  ASSERT_EQ(congestion.window(), 100U);
  congestion.lost(10, 50);
  EXPECT_EQ(congestion.window(), 70U);
  congestion.lost(50, 60);  // sent before the answer to the first
  EXPECT_EQ(congestion.window(), 70U);
  congestion.lost(51, 70);
  EXPECT_EQ(congestion.window(), 49U);
}

TEST(Congestion, after_a_loss_it_grows_by_one_a_round_trip) {
  Congestion congestion;
  congestion.lost(0, 10);
  const std::uint32_t before = congestion.window();
  for (int round = 1; round <= 20; ++round) {
    congestion.acknowledged(congestion.window(), 10 + round, true);
    EXPECT_EQ(congestion.window(), before + static_cast<std::uint32_t>(round));
  }
}

TEST(Congestion, losses_alone_leave_the_least_and_silence_one) {
  Congestion congestion;
  for (std::int64_t now = 1; now < 100; ++now) congestion.lost(now, now + 1);
  EXPECT_EQ(congestion.window(), Congestion::kLeast);
  congestion.timed_out(1, 1'000);
  EXPECT_EQ(congestion.window(), Congestion::kLeast);
  congestion.timed_out(2, 2'000);
  EXPECT_EQ(congestion.window(), 1U);
  congestion.lost(3'000, 4'000);
  EXPECT_EQ(congestion.window(), 1U);
}

// Of any number of attempts, as a schedule of its own would have it: kBurst at once, then one each
// interval.
TEST(Pacer, sends_a_burst_and_then_one_an_interval) {
  Pacer pacer;
  pacer.set_rate(10, 100'000, false, 0);  // 125 in 1 ms: one in 8 us
  int sent = 0;
  for (std::int64_t now = 1'000'000; now < 2'000'000; now += 100) {
    while (pacer.may_send(now)) {
      pacer.sent(now);
      ++sent;
    }
  }
  EXPECT_NEAR(sent, Pacer::kBurst + 125, 1);
}

TEST(Pacer, is_ready_when_it_says) {
  Random random(test::seed());
  Pacer pacer;
  std::int64_t now = 1;
  for (int i = 0; i < 10'000; ++i) {
    pacer.set_rate(1 + static_cast<std::uint32_t>(random.below(128)), random.between(1, 1'000'000),
                   random.percent(50), now);
    EXPECT_EQ(pacer.may_send(now), now >= pacer.ready_ns());
    now = std::max(now, pacer.ready_ns());
    ASSERT_TRUE(pacer.may_send(now));
    pacer.sent(now);
    now += random.between(0, 1'000);
  }
}

TEST(Pacer, a_rate_that_was_too_low_is_no_reason_to_wait) {
  Pacer pacer;
  pacer.set_rate(1, 10'000'000'000, false, 5);
  for (int i = 0; i < 60; ++i) pacer.sent(5);
  pacer.set_rate(10, 100'000, false, 6);
  EXPECT_LE(pacer.ready_ns(), 6 + 100'000);
}

TEST(Pacer, without_a_rate_it_does_not_wait) {
  Pacer pacer;
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(pacer.may_send(5));
    pacer.sent(5);
  }
}

}  // namespace
}  // namespace am::link::window
