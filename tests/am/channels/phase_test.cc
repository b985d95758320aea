// The receiver's end of a channel, every state by every event; then against a simple model.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "am/channel/ends.h"
#include "tests/support/seed.h"

namespace am {
namespace {

using Next = ChannelPhase::Next;
using Wrong = ChannelPhase::Wrong;
using Step = ChannelPhase::Step;

void expect(const Step& step, Next next, Wrong wrong) {
  EXPECT_EQ(step.next, next);
  EXPECT_EQ(step.wrong, wrong);
}
void expect_told(ChannelPhase& phase) {
  expect(phase.arrive(1), Next::kCall, Wrong::kNothing);
  phase.called();
  EXPECT_TRUE(phase.in_use());
}
// ready() as the channel does it.
void expect_ready(ChannelPhase& phase) {
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  expect(phase.poll(), Next::kRemember, Wrong::kNothing);
}

TEST(Armed, tells_a_put) {
  ChannelPhase phase;
  EXPECT_TRUE(phase.free());
  EXPECT_FALSE(phase.in_use());
  expect(phase.arrive(1), Next::kCall, Wrong::kNothing);
  EXPECT_TRUE(phase.due());
  EXPECT_FALSE(phase.free());
  phase.called();
  EXPECT_TRUE(phase.in_use());
  EXPECT_FALSE(phase.due());
  EXPECT_FALSE(phase.free());
}

TEST(Armed, tells_one_of_several_puts) {
  ChannelPhase phase;
  expect(phase.arrive(3), Next::kCall, Wrong::kLost);
  phase.called();
  expect_ready(phase);
  EXPECT_FALSE(phase.due()) << "the others are lost";
}

TEST(Armed, with_a_put_to_tell_calls_another_lost) {
  ChannelPhase phase;
  expect(phase.arrive(1), Next::kCall, Wrong::kNothing);
  expect(phase.arrive(1), Next::kCall, Wrong::kLost);
  phase.called();
  EXPECT_FALSE(phase.due());
}

TEST(Armed, before_the_first_put_may_be_made_ready_as_often_as_one_likes) {
  ChannelPhase phase;
  for (int i = 0; i < 3; ++i) {
    expect_ready(phase);
    EXPECT_EQ(phase.mark(), Wrong::kNothing);
    expect(phase.poll(), Next::kRemember, Wrong::kNothing);
  }
  expect_told(phase);
}

TEST(Armed, again_names_a_second_ready) {
  ChannelPhase phase;
  expect_told(phase);
  expect_ready(phase);
  EXPECT_EQ(phase.mark(), Wrong::kReadyTwice);
  expect(phase.poll(), Next::kRemember, Wrong::kReadyTwice);
  EXPECT_TRUE(phase.free()) << "without effect";
  expect_told(phase);
}

TEST(Delivered, remembers_an_early_put) {
  ChannelPhase phase;
  expect_told(phase);
  expect(phase.arrive(1), Next::kRemember, Wrong::kEarly);
  EXPECT_TRUE(phase.in_use());
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  EXPECT_FALSE(phase.free());
  expect(phase.poll(), Next::kCall, Wrong::kNothing);
  phase.called();
  EXPECT_TRUE(phase.in_use());
}

TEST(Delivered, remembers_one_of_several_early_puts) {
  ChannelPhase phase;
  expect_told(phase);
  expect(phase.arrive(1), Next::kRemember, Wrong::kEarly);
  expect(phase.arrive(1), Next::kRemember, Wrong::kLost);
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  expect(phase.poll(), Next::kCall, Wrong::kNothing);
  phase.called();
  expect_ready(phase);
  EXPECT_TRUE(phase.free());
}

TEST(Delivered, cannot_be_polled_for_before_it_is_marked) {
  ChannelPhase phase;
  expect_told(phase);
  expect(phase.poll(), Next::kRemember, Wrong::kNotMarked);
  EXPECT_TRUE(phase.in_use()) << "without effect";
}

TEST(Delivered, is_made_ready_inside_the_callback) {
  ChannelPhase phase;
  for (int i = 0; i < 5; ++i) {
    expect_told(phase);
    expect_ready(phase);
    EXPECT_FALSE(phase.due());
    EXPECT_TRUE(phase.free());
  }
}

TEST(Marked, remembers_a_put_until_it_is_polled_for) {
  ChannelPhase phase;
  expect_told(phase);
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  EXPECT_TRUE(phase.free());
  expect(phase.arrive(1), Next::kRemember, Wrong::kNothing);
  EXPECT_FALSE(phase.free());
  EXPECT_FALSE(phase.in_use());
  EXPECT_FALSE(phase.due());
  expect(phase.poll(), Next::kCall, Wrong::kNothing);
  EXPECT_TRUE(phase.due());
  phase.called();
  EXPECT_TRUE(phase.in_use());
}

TEST(Marked, remembers_one_of_several_puts) {
  ChannelPhase phase;
  expect_told(phase);
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  expect(phase.arrive(2), Next::kRemember, Wrong::kLost);
  expect(phase.arrive(1), Next::kRemember, Wrong::kLost);
  expect(phase.poll(), Next::kCall, Wrong::kNothing);
  phase.called();
  expect_ready(phase);
  EXPECT_FALSE(phase.due());
}

TEST(Marked, names_a_second_mark) {
  ChannelPhase phase;
  expect_told(phase);
  EXPECT_EQ(phase.mark(), Wrong::kNothing);
  EXPECT_EQ(phase.mark(), Wrong::kReadyTwice);
  expect(phase.poll(), Next::kRemember, Wrong::kNothing);
  expect_told(phase);
}

// Any order of events: told as often as there were puts, or a rule was broken and named.
TEST(AnyOrder, tells_every_put_of_those_who_keep_the_rule) {
  std::mt19937_64 random(::test::seed());
  ChannelPhase phase;
  bool under_way = true;  // the sender may put
  std::uint64_t puts = 0;
  std::uint64_t told = 0;
  const auto step = [&](const Step& s) {
    ASSERT_EQ(s.wrong, Wrong::kNothing);
    if (s.next != Next::kCall) return;
    ASSERT_TRUE(phase.due());
    phase.called();
    ++told;
  };
  for (int i = 0; i < 100'000 && !HasFatalFailure(); ++i) {
    ASSERT_EQ(phase.free(), under_way);
    switch (random() % 3) {
      case 0:
        if (!under_way) break;
        under_way = false;
        ++puts;
        step(phase.arrive(1));
        break;
      case 1:
        if (!phase.in_use()) break;
        ASSERT_EQ(phase.mark(), Wrong::kNothing);
        under_way = true;
        break;
      default:
        if (puts == 0 || phase.in_use()) break;
        if (const Step s = phase.poll(); s.wrong != Wrong::kReadyTwice) step(s);
    }
    ASSERT_LE(puts - told, 1u);
  }
  EXPECT_GT(told, 10'000u);
}

TEST(AnyOrder, names_every_put_that_is_not_told) {
  std::mt19937_64 random(::test::seed());
  ChannelPhase phase;
  std::uint64_t puts = 0;
  std::uint64_t told = 0;
  std::uint64_t lost = 0;  // a step that says so tells of one put less than have come
  for (int i = 0; i < 100'000; ++i) {
    std::optional<Step> step;
    switch (random() % 3) {
      case 0: {
        ++puts;
        step = phase.arrive(1);
        lost += step->wrong == Wrong::kLost;
        break;
      }
      case 1: phase.mark(); break;
      default: step = phase.poll();
    }
    if (!step || step->next != Next::kCall) continue;
    phase.called();
    ++told;
  }
  while (!phase.in_use() && !phase.free()) {  // the last one
    if (phase.poll().next == Next::kCall) phase.called(), ++told;
  }
  if (phase.mark() == Wrong::kNothing && phase.poll().next == Next::kCall) ++told;
  EXPECT_EQ(told + lost, puts);
}

}  // namespace
}  // namespace am
