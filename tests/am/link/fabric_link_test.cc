// FabricLink alone: packets between two links of one process, over every provider.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/types/clock.h"
#include "tests/am/link/fabric_pair.h"
#include "tests/support/providers.h"
#include "tests/support/seed.h"

namespace am::link {
namespace fabric_link_test {

using test::Pair;
using test::Side;

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

class Packets : public testing::TestWithParam<std::string> {};

TEST_P(Packets, arrive_once_and_in_order_both_ways) {
  constexpr std::uint64_t kCount = 3000;
  Pair pair(GetParam());
  std::mt19937_64 random(::test::seed());
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const std::uint16_t sizes[] = {0, 0, 1, static_cast<std::uint16_t>(random() % 300), 4096};
    const bool more = i + 1 != kCount && random() % 4 == 0;
    pair.a.send(1, i, sizes[random() % 5], Type::kBarrier, more);
    pair.b.send(0, i, sizes[random() % 5], Type::kBarrier, more);
    if (more) continue;
    if (random() % 16 == 0) pair.a.link().poll(pair.a);
    if (random() % 16 == 0) pair.b.link().poll(pair.b);
    pair.poll_until([&] {
      return pair.a.link().queue(1, 0) != Queue::kFull && pair.b.link().queue(0, 0) != Queue::kFull;
    });
  }
  pair.poll_until(
      [&] { return pair.a.numbers().size() >= kCount && pair.b.numbers().size() >= kCount; });
  EXPECT_EQ(pair.a.numbers(), first_numbers(kCount));
  EXPECT_EQ(pair.b.numbers(), first_numbers(kCount));
  pair.poll_until([&] { return !pair.a.link().busy() && !pair.b.link().busy(); });
}

// As when there was no memory for the packet that was to follow.
TEST_P(Packets, that_another_was_to_follow_leave_with_the_next_poll) {
  Pair pair(GetParam());
  pair.a.send(1, 0, 100, Type::kBarrier, true);
  pair.a.send(1, 1, 4096, Type::kBarrier, true);
  EXPECT_TRUE(pair.a.link().busy());
  pair.poll_until([&] { return pair.b.numbers().size() == 2; });
  EXPECT_EQ(pair.b.numbers(), first_numbers(2));
}

TEST_P(Packets, are_not_lost_when_the_sink_throws) {
  constexpr std::uint64_t kCount = 500;
  Pair pair(GetParam());
  for (std::uint64_t i = 0; i < kCount; ++i) pair.a.send(1, i, 40);
  pair.b.on_packet = [](std::uint64_t number) {
    if (number % 3 == 0) throw std::runtime_error("by the sink");
  };
  int thrown = 0;
  while (pair.b.numbers().size() < kCount) {
    pair.a.link().poll(pair.a);
    try {
      pair.b.link().poll(pair.b);
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "by the sink");
      ++thrown;
    }
  }
  EXPECT_EQ(pair.b.numbers(), first_numbers(kCount));
  EXPECT_EQ(thrown, 167);
}

TEST_P(Packets, that_the_sink_keeps_stay_in_order_for_poll) {
  constexpr std::uint64_t kCount = 300;
  Pair pair(GetParam());
  pair.b.kept = Type::kRequest;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    pair.a.send(1, i, 8, i % 10 == 9 ? Type::kRequest : Type::kBarrier);
  }
  std::size_t polls = 0;
  while (pair.b.numbers().size() < kCount) {
    pair.a.link().poll(pair.a);
    if (!pair.b.link().fetch(pair.b)) continue;
    if (pair.b.numbers().size() % 10 != 9) continue;  // the time of a fetch was over before
    EXPECT_TRUE(pair.b.link().fetch(pair.b)) << "it is the next one's turn";
    pair.b.link().poll(pair.b);
    ++polls;
  }
  EXPECT_EQ(pair.b.numbers(), first_numbers(kCount));
  EXPECT_GT(polls, 0u);
}

// A poll ends long before everything that has arrived is handled, if that takes long.
TEST_P(Packets, that_take_long_leave_poll_between_them) {
  constexpr std::uint64_t kCount = 150;
  Pair pair(GetParam());
  pair.b.on_packet = [](std::uint64_t) {
    const std::int64_t begun = now_ns();
    while (now_ns() - begun < 1'000'000) {
    }
  };
  for (std::uint64_t i = 0; i < kCount; ++i) pair.a.send(1, i, 4096);
  std::size_t polls = 0;
  while (pair.b.numbers().size() < kCount) {
    for (int i = 0; i < 100; ++i) pair.a.link().poll(pair.a);
    const std::size_t before = pair.b.numbers().size();
    pair.b.link().poll(pair.b);
    EXPECT_LE(pair.b.numbers().size() - before, 30u);
    ++polls;
  }
  EXPECT_GE(polls, kCount / 30);
  EXPECT_EQ(pair.b.numbers(), first_numbers(kCount));
}

// The other end does not poll: what is in flight is limited, and nothing is lost.
TEST_P(Packets, congest_while_the_receiver_looks_away) {
  constexpr std::uint64_t kMost = 64 << 20;  // bytes that may be in buffers of whatever kind
  Pair pair(GetParam());
  std::uint64_t sent = 0;
  while (pair.a.link().queue(1, 0) != Queue::kFull && sent * 4096 < kMost) {
    pair.a.send(1, sent++, 4096);
    pair.a.link().poll(pair.a);
  }
  EXPECT_EQ(pair.a.link().queue(1, 0), Queue::kFull) << sent << " packets of a page";
  EXPECT_TRUE(pair.a.link().busy());
  pair.poll_until([&] { return pair.b.numbers().size() >= sent; });
  EXPECT_EQ(pair.b.numbers(), first_numbers(sent));
  pair.poll_until(
      [&] { return pair.a.link().queue(1, 0) != Queue::kFull && !pair.a.link().busy(); });
}

struct Flag : Completion {
  Flag() {
    done = [](Completion& completion) { ++static_cast<Flag&>(completion).times; };
  }
  int times = 0;
};

// Reads and writes, from memory in and outside the segment.
void read_and_write(Pair& pair) {
  if (!pair.a.link().can().rma) GTEST_SKIP() << "no RMA";
  std::mt19937_64 random(::test::seed());
  for (const std::size_t bytes : {1, 8, 100, 4097, 100'000}) {
    SCOPED_TRACE(bytes);
    std::vector<std::byte> outside(bytes), back(bytes);
    for (std::byte& b : outside) b = static_cast<std::byte>(random());
    const auto inside = pair.a.segment().subspan(3, bytes);
    Flag written, read, read_inside;
    const RemoteKey there = RemoteKey::in_segment(0) + 500'001;
    const auto start = [&](const RmaAccess& access, Flag& done) {
      pair.poll_until([&] { return pair.a.link().try_access(access, done); });
    };
    start(RmaAccess::write(1, there, outside), written);
    pair.poll_until([&] { return written.times != 0; });
    EXPECT_TRUE(std::ranges::equal(outside, pair.b.segment().subspan(500'001, bytes)));
    start(RmaAccess::read(1, there, back), read);
    start(RmaAccess::read(1, there, inside), read_inside);
    pair.poll_until([&] { return read.times != 0 && read_inside.times != 0; });
    EXPECT_EQ(back, outside);
    EXPECT_TRUE(std::ranges::equal(outside, inside));
    EXPECT_EQ(written.times + read.times + read_inside.times, 3);
  }
  pair.poll_until([&] { return !pair.a.link().busy(); });
}

TEST_P(Packets, go_beside_reads_and_writes) {
  Pair pair(GetParam());
  for (std::uint64_t i = 0; i < 100; ++i) pair.a.send(1, i, 100);
  read_and_write(pair);
  pair.poll_until([&] { return pair.b.numbers().size() == 100; });
}

// As with hardware that wants every local buffer registered.
TEST_P(Packets, and_accesses_can_do_with_registered_memory_only) {
  Pair pair(GetParam(), {.local_keys = true});
  for (std::uint64_t i = 0; i < 100; ++i) pair.a.send(1, i, 100);
  read_and_write(pair);
  pair.poll_until([&] { return pair.b.numbers().size() == 100; });
}

TEST_P(Packets, go_without_access_to_memory) {
  Pair pair(GetParam(), {.use_rma = false});
  EXPECT_FALSE(pair.a.link().can().rma);
  for (std::uint64_t i = 0; i < 10; ++i) pair.a.send(1, i, 100);
  pair.poll_until([&] { return pair.b.numbers().size() == 10; });
}

INSTANTIATE_TEST_SUITE_P(Over, Packets, ::test::software_providers(), ::test::provider_name);

}  // namespace fabric_link_test
}  // namespace am::link
