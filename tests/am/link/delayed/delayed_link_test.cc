// A link whose packets are late. How late is up to the clock of this machine: what is checked here
// holds however slow that is.
#include "am/link/delayed/delayed_link.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "am/types/clock.h"
#include "tests/am/link/fake_link.h"
#include "tests/support/seed.h"

namespace am::link {
namespace {

using test::Counting;
using test::FakeLink;
using test::NotingSink;

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::int64_t kShort = 2'000'000;

struct Delayed {
  explicit Delayed(std::int64_t delay_ns, std::uint64_t seed = ::test::seed())
      : below(new FakeLink("the link")), link(std::unique_ptr<Link>(below), 4, delay_ns, seed) {}

  void send(Rank to, std::byte number) {
    const std::array<std::byte, 16> packet{number};
    link.send(to, packet);
  }
  // Polls until so many packets have been sent in all.
  void poll_until_sent(std::size_t count) {
    while (below->sent.size() < count) link.poll(sink);
  }

  FakeLink* below;
  DelayedLink link;
  NotingSink sink;
};

TEST(DelayedLink, holds_packets_and_is_busy_with_them) {
  Delayed one(kHour);
  EXPECT_FALSE(one.link.busy());
  one.send(1, std::byte{1});
  one.link.poll(one.sink);
  EXPECT_FALSE(one.link.push());
  one.link.fetch(one.sink);
  EXPECT_TRUE(one.below->sent.empty());
  EXPECT_TRUE(one.link.busy());
}

TEST(DelayedLink, gives_packets_to_each_process_on_in_order_and_whole) {
  Delayed one(kShort);
  constexpr std::size_t kEach = 100;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (const Rank to : {1U, 2U, 3U}) one.send(to, static_cast<std::byte>(i));
    one.link.poll(one.sink);
  }
  one.poll_until_sent(3 * kEach);
  EXPECT_FALSE(one.link.busy());
  EXPECT_TRUE(one.link.push());
  std::map<Rank, std::size_t> next;
  for (const FakeLink::Packet& packet : one.below->sent) {
    ASSERT_EQ(packet.bytes.size(), 16u);
    EXPECT_EQ(packet.bytes[0], static_cast<std::byte>(next[packet.to]++));
  }
  EXPECT_EQ(next, (std::map<Rank, std::size_t>{{1, kEach}, {2, kEach}, {3, kEach}}));
}

TEST(DelayedLink, lets_packets_to_one_process_overtake_those_to_another) {
  int overtaken = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Delayed one(kShort, ::test::seed() + seed);
    one.send(2, std::byte{1});
    one.send(1, std::byte{2});
    one.poll_until_sent(2);
    overtaken += one.below->sent[0].to == 1;
  }
  EXPECT_GT(overtaken, 0);
}

TEST(DelayedLink, lets_accesses_overtake_packets) {
  Delayed one(kHour);
  std::array<std::byte, 8> local{};
  Counting access, put;
  one.send(1, std::byte{1});
  ASSERT_TRUE(one.link.try_access(RmaAccess::write(1, {8, 0}, local), access));
  ASSERT_TRUE(one.link.try_put(1, 16, local, 5, put));
  one.link.poll(one.sink);
  EXPECT_EQ(access.times, 1);
  EXPECT_EQ(put.times, 1);
  EXPECT_EQ(one.below->puts[0].word, 5u);
  EXPECT_TRUE(one.below->sent.empty());
}

TEST(DelayedLink, is_no_more_patient_than_its_next_packet) {
  Delayed one(kHour);
  EXPECT_EQ(one.link.patience_ns(), -1);
  one.below->patience = 2 * kHour;
  EXPECT_EQ(one.link.patience_ns(), 2 * kHour);
  one.send(1, std::byte{1});
  EXPECT_LE(one.link.patience_ns(), kHour);
  EXPECT_GE(one.link.patience_ns(), 0);
  one.below->patience = 0;
  EXPECT_EQ(one.link.patience_ns(), 0);
}

// Who sleeps for patience_ns() and polls once finds the packet gone.
TEST(DelayedLink, sends_what_is_due_when_its_patience_ends) {
  Delayed one(kShort);
  one.send(1, std::byte{1});
  const std::int64_t patience_ns = one.link.patience_ns();
  const std::int64_t until = now_ns() + patience_ns;  // in this order: not before it ends
  while (now_ns() < until) {
  }
  one.link.poll(one.sink);
  EXPECT_EQ(one.below->sent.size(), 1u);
}

TEST(DelayedLink, is_congested_by_what_it_holds_for_that_process) {
  Delayed one(kHour);
  int held = 0;
  for (; !one.link.congested(1); ++held) {
    ASSERT_LT(held, 100'000) << "it holds as much as one likes";
    one.send(1, std::byte{1});
  }
  EXPECT_GT(held, 0);
  EXPECT_FALSE(one.link.congested(2));
  one.below->congested_now = true;
  EXPECT_TRUE(one.link.congested(2));
}

TEST(DelayedLink, is_what_it_is_made_of_otherwise) {
  Delayed one(kHour);
  FakeLink& below = *one.below;
  std::array<std::byte, 8> memory{};
  EXPECT_TRUE(one.link.has_rma());
  EXPECT_EQ(one.link.segment_key(3), below.segment_key(3));
  EXPECT_EQ(one.link.max_put(), below.max_put());
  EXPECT_EQ(one.link.arrival_bits(), below.arrival_bits());
  EXPECT_EQ(one.link.register_memory(memory)->key(), below.register_memory(memory)->key());
  below.ordered_writes = below.emulates = true;
  EXPECT_TRUE(one.link.writes_before_packets(8));  // a packet is only later than it would be
  EXPECT_TRUE(one.link.prefers_packets());
  below.room = false;
  Counting completion;
  EXPECT_FALSE(one.link.try_access(RmaAccess::read(1, {0, 0}, memory), completion));
  below.incoming = {{2, test::of_type(one.sink.kept)}};
  EXPECT_TRUE(one.link.fetch(one.sink));
  EXPECT_EQ(one.link.poll(one.sink), 1);
  EXPECT_NE(one.link.describe().find("the link, "), std::string::npos);
}

}  // namespace
}  // namespace am::link
