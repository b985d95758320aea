// Two links as one: which is asked for what, and what is promised of both together.
#include "am/link/mixed/mixed_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/am/link/fake_link.h"

namespace am::link {
namespace {

using test::Counting;
using test::FakeLink;
using test::NotingSink;
using test::of_type;

using Come = std::vector<std::pair<Rank, Type>>;

class Mixed : public testing::Test {
 protected:
  FakeLink* const packets_ = new FakeLink("packets");
  FakeLink* const access_ = new FakeLink("the access");
  // Made by the first use, as it asks for descriptors then.
  MixedLink& link() {
    if (!link_) {
      link_ = std::make_unique<MixedLink>(std::unique_ptr<Link>(packets_),
                                          std::unique_ptr<Link>(access_));
    }
    return *link_;
  }
  void TearDown() override { link(); }

  NotingSink sink_;

 private:
  std::unique_ptr<MixedLink> link_;
};

TEST_F(Mixed, sends_packets_by_the_first_alone_and_in_order) {
  std::array<std::byte, 16> one{std::byte{1}};
  std::array<std::byte, 24> two{std::byte{2}};
  link().send(3, one);
  link().send(5, two);
  const std::vector<FakeLink::Packet> expected{{3, {one.begin(), one.end()}},
                                               {5, {two.begin(), two.end()}}};
  EXPECT_EQ(packets_->sent, expected);
  EXPECT_TRUE(access_->sent.empty());
}

TEST_F(Mixed, says_of_packets_what_the_first_says) {
  EXPECT_TRUE(link().push());
  packets_->all_pushed = false;
  EXPECT_FALSE(link().push());
  EXPECT_EQ(packets_->pushes, 2);
  access_->gathers_now = access_->congested_now = true;
  EXPECT_FALSE(link().gathers(1));
  EXPECT_FALSE(link().congested(1));
  packets_->gathers_now = packets_->congested_now = true;
  EXPECT_TRUE(link().gathers(1));
  EXPECT_TRUE(link().congested(1));
}

TEST_F(Mixed, accesses_memory_by_the_second_alone) {
  packets_->rma = false;
  std::array<std::byte, 40> local{};
  Counting read, put;
  EXPECT_TRUE(link().has_rma());
  EXPECT_TRUE(link().try_access(RmaAccess::read(4, {100, 7}, local), read));
  EXPECT_TRUE(link().try_put(2, 300, std::span(local).first(8), 99, put));
  EXPECT_TRUE(packets_->accesses.empty());
  EXPECT_TRUE(packets_->puts.empty());
  ASSERT_EQ(access_->accesses.size(), 1u);
  EXPECT_EQ(access_->accesses[0].peer, 4u);
  EXPECT_EQ(access_->accesses[0].at, (RemoteKey{100, 7}));
  EXPECT_EQ(access_->accesses[0].local.data(), local.data());
  ASSERT_EQ(access_->puts.size(), 1u);
  EXPECT_EQ(access_->puts[0].to, 2u);
  EXPECT_EQ(access_->puts[0].offset, 300u);
  EXPECT_EQ(access_->puts[0].word, 99u);
  link().poll(sink_);
  EXPECT_EQ(read.times, 1);
  EXPECT_EQ(put.times, 1);
}

TEST_F(Mixed, has_no_room_for_an_access_when_the_second_has_none) {
  access_->room = false;
  Counting completion;
  EXPECT_FALSE(link().try_access(RmaAccess::read(1, {0, 0}, {}), completion));
  EXPECT_FALSE(link().try_put(1, 0, {}, 0, completion));
  link().poll(sink_);
  EXPECT_EQ(completion.times, 0);
}

TEST_F(Mixed, gives_out_the_keys_of_the_second) {
  std::array<std::byte, 8> memory{};
  EXPECT_EQ(link().segment_key(6), access_->segment_key(6));
  EXPECT_EQ(link().max_put(), access_->max_put());
  EXPECT_EQ(link().arrival_bits(), access_->arrival_bits());
  const auto registered = link().register_memory(memory);
  EXPECT_EQ(registered->key(), access_->register_memory(memory)->key());
  EXPECT_EQ(registered->range().data(), memory.data());
  access_->registrations.misses = 5;
  EXPECT_EQ(link().registration_stats().misses, 5u);
  access_->emulates = true;
  EXPECT_TRUE(link().prefers_packets());
}

// The second may keep its own order, but packets do not go by it.
TEST_F(Mixed, promises_no_write_before_later_packets) {
  packets_->ordered_writes = access_->ordered_writes = true;
  EXPECT_FALSE(link().writes_before_packets(8));
}

TEST_F(Mixed, has_small_accesses_sent_as_packets) {
  EXPECT_GE(link().largest_packet_access(), 8u);
  EXPECT_LE(link().largest_packet_access(), std::size_t{kMaxPacket});
}

// A completion is called by the poll that comes after it, however many come in between.
TEST_F(Mixed, looks_at_the_second_with_every_poll_while_something_is_in_flight_there) {
  access_->completes = false;
  Counting completion;
  ASSERT_TRUE(link().try_access(RmaAccess::read(1, {0, 0}, {}), completion));
  for (int i = 1; i <= 20; ++i) {
    link().poll(sink_);
    EXPECT_EQ(access_->polls, i);
  }
  EXPECT_TRUE(link().busy());
  access_->completes = true;
  EXPECT_EQ(link().poll(sink_), 1);
  EXPECT_EQ(completion.times, 1);
  EXPECT_FALSE(link().busy());
}

TEST_F(Mixed, looks_at_the_second_seldom_but_for_ever_while_nothing_is_in_flight_there) {
  constexpr int kPolls = 1'000;
  int longest = 0;
  for (int i = 0, last = 0, seen = 0; i < kPolls; ++i) {
    link().poll(sink_);
    if (access_->polls != seen) last = i;
    seen = access_->polls;
    longest = std::max(longest, i - last);
  }
  EXPECT_EQ(packets_->polls, kPolls);
  EXPECT_LT(access_->polls, kPolls / 4);
  EXPECT_LT(longest, 16);
}

TEST_F(Mixed, delivers_what_comes_by_either) {
  packets_->incoming = {{1, of_type(Type::kStore)}};
  access_->incoming = {{2, of_type(Type::kPing)}};
  int count = 0;
  for (int i = 0; i < 16; ++i) count += link().poll(sink_);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(sink_.come, (Come{{1, Type::kStore}, {2, Type::kPing}}));
}

TEST_F(Mixed, goes_on_behind_a_packet_whose_handler_has_thrown) {
  packets_->incoming = {{1, of_type(Type::kGone)}, {1, of_type(Type::kStore)}};
  Counting completion;
  ASSERT_TRUE(link().try_access(RmaAccess::read(1, {0, 0}, {}), completion));
  EXPECT_THROW(link().poll(sink_), Error);
  link().poll(sink_);
  EXPECT_EQ(sink_.come, (Come{{1, Type::kGone}, {1, Type::kStore}}));
  EXPECT_EQ(completion.times, 1);
}

TEST_F(Mixed, fetches_from_both_and_tells_if_either_has_kept_something) {
  packets_->incoming = {{1, of_type(Type::kStore)}};
  access_->incoming = {{2, of_type(Type::kPong)}};
  EXPECT_FALSE(link().fetch(sink_));
  EXPECT_EQ(sink_.come.size(), 2u);
  packets_->incoming = {{1, of_type(sink_.kept)}};
  EXPECT_TRUE(link().fetch(sink_));
  packets_->incoming.clear();
  access_->incoming = {{2, of_type(sink_.kept)}};
  packets_->incoming = {{1, of_type(Type::kStore)}};
  EXPECT_TRUE(link().fetch(sink_));
  EXPECT_TRUE(packets_->incoming.empty()) << "what the one keeps holds up the other";
  EXPECT_EQ(sink_.come.size(), 3u);
}

TEST_F(Mixed, is_busy_while_either_is) {
  packets_->completes = access_->completes = false;
  EXPECT_FALSE(link().busy());
  Counting one, other;
  packets_->try_access(RmaAccess::read(1, {0, 0}, {}), one);
  EXPECT_TRUE(link().busy());
  packets_->completes = true;
  link().poll(sink_);
  EXPECT_FALSE(link().busy());
  access_->try_access(RmaAccess::read(1, {0, 0}, {}), other);
  EXPECT_TRUE(link().busy());
}

TEST_F(Mixed, verifies_and_drives_both) {
  link().verify();
  link().drive();
  EXPECT_EQ(packets_->verified + access_->verified, 2);
  EXPECT_EQ(packets_->driven + access_->driven, 2);
}

TEST_F(Mixed, sleeps_only_where_both_may_and_as_long_as_the_less_patient) {
  EXPECT_TRUE(link().may_sleep());
  packets_->sleeps = false;
  EXPECT_FALSE(link().may_sleep());
  std::swap(packets_->sleeps, access_->sleeps);
  EXPECT_FALSE(link().may_sleep());
  EXPECT_EQ(link().patience_ns(), -1);
  packets_->patience = 70;
  EXPECT_EQ(link().patience_ns(), 70);
  access_->patience = 30;
  EXPECT_EQ(link().patience_ns(), 30);
  packets_->patience = 0;
  EXPECT_EQ(link().patience_ns(), 0);
}

TEST_F(Mixed, has_no_descriptor_to_sleep_on_if_one_has_none) {
  const int event = eventfd(0, EFD_CLOEXEC);
  packets_->fd = event;
  EXPECT_EQ(link().wait_fd(), -1);
  close(event);
}

TEST_F(Mixed, wakes_for_either) {
  const std::array<int, 2> events{eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
  packets_->fd = events[0];
  access_->fd = events[1];
  const auto wakes = [&] {
    pollfd both{.fd = link().wait_fd(), .events = POLLIN, .revents = 0};
    return poll(&both, 1, 0) == 1;
  };
  EXPECT_FALSE(wakes());
  for (const int event : events) {
    eventfd_write(event, 1);
    EXPECT_TRUE(wakes());
    EXPECT_TRUE(wakes()) << "nobody has taken it";
    eventfd_t taken = 0;
    eventfd_read(event, &taken);
    EXPECT_FALSE(wakes());
  }
  for (const int event : events) close(event);
}

TEST_F(Mixed, counts_strangers_at_both_once) {
  packets_->strangers = {.frames = 1, .words = 20, .receives = 300, .completions = 1000};
  access_->strangers = {.frames = 4, .words = 50, .receives = 600, .completions = 2000};
  const StrangerStats expected{.frames = 5, .words = 70, .receives = 900, .completions = 3000};
  EXPECT_EQ(link().stranger_stats(), expected);
  EXPECT_EQ(link().stranger_stats(), expected);
}

TEST_F(Mixed, says_what_goes_by_which) {
  EXPECT_EQ(link().describe(), "messages over packets; bulk by RMA over the access");
}

}  // namespace
}  // namespace am::link
