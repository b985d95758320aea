// The link over datagrams of libfabric's udp, both ends in this process.
#include "am/link/datagram/datagram_link.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/am/link/datagram/datagram_pair.h"
#include "tests/support/seed.h"

namespace am::link {
namespace {

using test::Fatal;
using test::Middle;
using test::Pair;
using test::Side;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> up_to(std::uint64_t end) {
  std::vector<std::uint64_t> all(end);
  for (std::uint64_t i = 0; i < end; ++i) all[i] = i;
  return all;
}

// Packets of all sizes both ways, with polls now and then.
void exchange(Pair& pair, std::uint64_t packets) {
  std::mt19937_64 random(::test::seed());
  for (std::uint64_t i = 0; i < packets; ++i) {
    for (Side* const from : {&pair.a, &pair.b}) {
      const auto bytes =
          static_cast<std::uint16_t>(random() % (random() % 8 == 0 ? kMaxData : 100));
      const bool more = i + 1 != packets && random() % 4 == 0;
      from->send(from == &pair.a ? 1 : 0, i, bytes, Type::kBarrier, more);
      if (more) continue;
      if (random() % 4 == 0) from->poll();
    }
  }
  pair.poll_until(
      [&] { return pair.a.numbers().size() == packets && pair.b.numbers().size() == packets; });
  EXPECT_EQ(pair.a.numbers(), up_to(packets));
  EXPECT_EQ(pair.b.numbers(), up_to(packets));
}

// Such as fit into a frame of Ethernet.
Side::Options short_datagrams(bool segments = true) {
  Side::Options options;
  options.socket.most_bytes = 1'472;
  options.socket.segments = segments;
  return options;
}

TEST(DatagramLink, packets_of_all_sizes_come_in_order_and_whole) {
  Pair pair;
  EXPECT_THAT(pair.a.link().can().description, HasSubstr("datagrams of 65504 B"));
  exchange(pair, 3'000);
}

TEST(DatagramLink, so_they_do_in_short_datagrams_of_which_many_are_sent_in_a_call) {
  for (const bool segments : {true, false}) {
    Pair pair(short_datagrams(segments));
    EXPECT_THAT(pair.a.link().can().description, HasSubstr("datagrams of 1472 B"));
    exchange(pair, 3'000);
    EXPECT_EQ(pair.b.link().counters().forged, 0U);
  }
}

TEST(DatagramLink, so_they_do_where_the_processes_have_datagrams_of_different_lengths) {
  Side::Options narrow = short_datagrams();
  Pair pair(Side::Options{}, narrow);
  exchange(pair, 3'000);
  EXPECT_EQ(pair.b.link().counters().forged, 0U);
}

TEST(DatagramLink, so_they_do_where_the_system_gives_little_room) {
  Side::Options options;
  options.socket.room_bytes = 4'096;
  Pair pair(options);
  exchange(pair, 1'000);
}

TEST(DatagramLink, so_they_do_when_datagrams_are_lost_doubled_exchanged_late_and_damaged) {
  for (const std::uint32_t percent : {5, 20}) {
    const std::uint32_t chance = percent * 10'000;
    Pair pair(Side::Options{.faults = {.drop = chance,
                                       .dup = chance,
                                       .reorder = chance,
                                       .corrupt = chance / 4,
                                       .delay_ns = 50'000,
                                       .seed = ::test::seed()},
                            .socket = short_datagrams().socket});
    exchange(pair, 1'000);
    const window::Counters& counters = pair.b.link().counters();
    EXPECT_GT(counters.repeated, 0U);
    EXPECT_GT(counters.duplicates, 0U);
    EXPECT_GT(counters.forged, 0U);
    EXPECT_THAT(pair.b.link().can().description, HasSubstr("with faults"));
  }
}

TEST(DatagramLink, sends_may_be_in_flight_after_the_call) {
  Pair pair(Side::Options{.no_inject = true});
  EXPECT_THAT(pair.a.link().can().description, HasSubstr("inject 0 B"));
  exchange(pair, 3'000);
}

TEST(DatagramLink, what_is_in_flight_and_lost_is_sent_again) {
  constexpr std::uint32_t kChance = 100'000;  // of a million
  Pair pair(Side::Options{.faults = {.drop = kChance, .reorder = kChance, .seed = ::test::seed()},
                          .no_inject = true});
  exchange(pair, 1'000);
  EXPECT_GT(pair.a.link().counters().repeated, 0U);
}

// As if the network were so slow that nothing is ever late.
Side::Options patient() {
  constexpr std::int64_t kLong = 100'000'000'000;
  return {
      .window = {.ack_delay_ns = kLong,
                 .round_trip = {.initial_ns = kLong, .variance_ns = kLong, .longest_ns = kLong}}};
}

TEST(DatagramLink, packets_of_one_poll_share_datagrams) {
  Pair pair(patient());
  pair.b.on_packet = [&](std::uint64_t) {
    for (std::uint64_t i = 0; i < 500; ++i) pair.b.send(0, i);
  };
  pair.a.send(1, 0);
  pair.poll_until([&] { return pair.a.numbers().size() == 500; });
  EXPECT_EQ(pair.b.link().counters().data, 2U);  // a small one, and what followed
}

TEST(DatagramLink, packets_that_others_follow_share_a_datagram_with_them) {
  Pair pair(patient());
  for (std::uint64_t i = 0; i < 50; ++i) pair.a.send(1, i, 8, Type::kBarrier, i != 49);
  pair.poll_until([&] { return pair.b.numbers().size() == 50; });
  EXPECT_EQ(pair.b.numbers(), up_to(50));
  EXPECT_EQ(pair.a.link().counters().data, 1U);
}

TEST(DatagramLink, answers_of_a_poll_take_acknowledgements_along) {
  Pair pair(patient());
  pair.b.on_packet = [&](std::uint64_t number) { pair.b.send(0, number); };
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    pair.a.send(1, i);
    pair.poll_until([&] { return pair.a.numbers().size() == i + 1; });
  }
  EXPECT_EQ(pair.b.link().counters().acks, 0U);
}

TEST(DatagramLink, it_is_busy_until_all_is_acknowledged) {
  Pair pair;
  EXPECT_FALSE(pair.a.link().busy());
  EXPECT_EQ(pair.a.link().longest_sleep_ns(), -1);
  pair.a.send(1, 0);
  EXPECT_TRUE(pair.a.link().busy());
  EXPECT_GE(pair.a.link().longest_sleep_ns(), 0);
  pair.poll_until([&] { return !pair.a.link().busy() && !pair.b.link().busy(); });
  EXPECT_THAT(pair.b.numbers(), ElementsAre(0));
}

TEST(DatagramLink, fetch_leaves_a_packet_that_is_kept_and_all_behind_it) {
  Pair pair;
  pair.b.kept = Type::kRequest;
  pair.a.send(1, 0, 40);
  pair.a.send(1, 1, 40, Type::kRequest);
  for (std::uint64_t i = 2; i < 100; ++i) pair.a.send(1, i, 1'000);
  while (!pair.b.fetch()) pair.a.poll();
  while (pair.a.link().busy()) {  // until all has been acknowledged, and is kept there
    pair.a.poll();
    ASSERT_TRUE(pair.b.fetch());
  }
  EXPECT_THAT(pair.b.numbers(), ElementsAre(0));
  pair.poll_until([&] { return pair.b.numbers().size() == 100; });
  EXPECT_EQ(pair.b.numbers(), up_to(100));
}

// The sender asks only after a long time here, so it has to be told.
TEST(DatagramLink, when_poll_has_delivered_what_fetch_kept_the_sender_learns_that_there_is_room) {
  constexpr std::int64_t kLong = 100'000'000'000;
  Pair pair(Side::Options{
      .window = {.round_trip = {.initial_ns = kLong, .variance_ns = kLong, .longest_ns = kLong}},
      .socket = short_datagrams().socket});
  pair.b.kept = Type::kRequest;
  pair.a.send(1, 0, 40, Type::kRequest);
  for (std::uint64_t i = 1; i < 300; ++i) pair.a.send(1, i, 1'400);
  // Until no more can be sent, and that is acknowledged.
  std::uint64_t before = 0;
  for (int same = 0; same < 2'000; ++same) {
    pair.a.poll();
    pair.b.fetch();
    const std::uint64_t sent = pair.a.link().counters().data;
    if (std::exchange(before, sent) != sent) same = 0;
  }
  ASSERT_LT(before, 300U);
  pair.poll_until([&] { return pair.b.numbers().size() == 300; });
  EXPECT_EQ(pair.b.numbers(), up_to(300));
  EXPECT_LT(pair.a.link().counters().timeouts, 2U);
}

TEST(DatagramLink, a_sink_that_throws_gets_the_next_packet_next) {
  Pair pair;
  pair.b.on_packet = [](std::uint64_t number) {
    if (number % 3 == 0) throw std::logic_error("as it is meant to");
  };
  for (std::uint64_t i = 0; i < 60; ++i) pair.a.send(1, i, i % 5 == 0 ? 4'000 : 10);
  int thrown = 0;
  while (pair.b.numbers().size() < 60) {
    pair.a.poll();
    try {
      pair.b.poll();
    } catch (const std::logic_error&) {
      ++thrown;
    }
  }
  EXPECT_EQ(thrown, 20);
  EXPECT_EQ(pair.b.numbers(), up_to(60));
}

TEST(DatagramLink, a_peer_that_is_gone_ends_the_job_with_a_sentence) {
  const Side::Options quick{
      .window = {.most_questions = 8, .round_trip = {.longest_ns = 2'000'000}}};
  Side a(0, quick);
  {
    Side b(1, quick);
    a.link().introduce(1, b.link().card());
  }
  a.send(1, 0);
  std::string sentence;
  while (sentence.empty()) {
    try {
      a.poll();
    } catch (const Fatal& fatal) {
      sentence = fatal.what();
    }
  }
  EXPECT_THAT(sentence, HasSubstr("lost the way to rank 1: it has not answered 8 datagrams"));
  EXPECT_THAT(sentence, HasSubstr("or it has not called the library for 0 s"));
}

TEST(DatagramLink, who_is_asked_for_a_sign_of_life_gives_one) {
  Pair pair;
  pair.a.send(1, 0);
  pair.b.send(0, 0);
  pair.poll_until([&] { return !pair.a.link().busy() && !pair.b.link().busy(); });
  pair.a.link().verify();
  EXPECT_EQ(pair.a.link().counters().probes, 1U);
  EXPECT_TRUE(pair.a.link().busy());
  pair.poll_until([&] { return !pair.a.link().busy(); });
}

TEST(DatagramLink, who_has_been_silent_for_long_is_asked_for_a_sign_of_life) {
  Pair pair(Side::Options{.window = {.keep_alive_ns = 1'000'000}});
  pair.a.send(1, 0);
  pair.b.send(0, 0);
  pair.poll_until([&] { return !pair.a.link().busy() && !pair.b.link().busy(); });
  const std::uint64_t before = pair.b.link().counters().received;
  while (pair.a.link().counters().probes == 0) pair.a.fetch();
  pair.poll_until([&] { return !pair.a.link().busy(); });
  EXPECT_GT(pair.b.link().counters().received, before);
}

TEST(DatagramLink, the_memory_of_a_flood_is_given_back_when_nothing_needs_it) {
  Pair pair(Side::Options{.window = {.keep_alive_ns = 10'000'000}});
  constexpr std::uint64_t kPackets = 10'000;
  for (std::uint64_t i = 0; i < kPackets; ++i) pair.a.send(1, i, 1'400);
  EXPECT_GT(pair.a.link().memory_bytes(), kPackets * 1'400);
  pair.poll_until([&] { return pair.b.numbers().size() == kPackets; });
  while (pair.a.link().memory_bytes() > std::size_t{6} << 20) {
    pair.a.fetch();
    pair.b.fetch();
  }
  EXPECT_EQ(pair.b.numbers(), up_to(kPackets));
}

// --- Others on the way

class Between : public testing::Test {
 protected:
  Between() : to_b_(test::address_in(b_.link().card())), to_a_(test::address_in(a_.link().card())) {
    a_.link().introduce(1, test::with_address(b_.link().card(), to_b_.address()));
    b_.link().introduce(0, test::with_address(a_.link().card(), to_a_.address()));
  }
  // Passes on what has come, and keeps it.
  void pass() {
    for (Middle* const one : {&to_a_, &to_b_}) {
      for (auto bytes = one->take(); !bytes.empty(); bytes = one->take()) {
        one->send(bytes);
        if (one == &to_b_) seen_.push_back(bytes);
      }
    }
  }
  void exchange(std::uint64_t packets) {
    const std::uint64_t end = next_ + packets;
    for (; next_ != end; ++next_) a_.send(1, next_, 500);
    while (b_.numbers().size() != end || a_.link().busy()) {
      a_.poll();
      b_.poll();
      pass();
    }
    EXPECT_EQ(b_.numbers(), up_to(end));
  }
  const window::Counters& counters() { return b_.link().counters(); }

  Side a_{0};
  Side b_{1};
  Middle to_b_;
  Middle to_a_;
  std::vector<std::vector<std::byte>> seen_;  // datagrams from a to b
  std::uint64_t next_ = 0;
};

TEST_F(Between, what_is_replayed_is_counted_and_dropped) {
  exchange(50);
  for (const auto& bytes : seen_) to_b_.send(bytes);
  while (counters().duplicates == 0) b_.poll();
  exchange(50);
  EXPECT_EQ(counters().forged, 0U);
}

TEST_F(Between, what_is_cut_changed_or_made_up_is_counted_and_dropped_and_reported_once) {
  exchange(20);
  const std::uint64_t before = counters().forged;
  std::uint64_t sent = 0;
  for (auto bytes : std::vector(seen_)) {
    bytes.back() ^= std::byte{1};
    to_b_.send(bytes);
    bytes.pop_back();
    to_b_.send(bytes);
    to_b_.send(std::vector<std::byte>(100, std::byte{0x78}));
    sent += 3;
    while (counters().forged < before + sent) b_.poll();
  }
  exchange(20);
  EXPECT_EQ(counters().forged, before + sent);
  EXPECT_EQ(b_.link().stats().strangers.frames, before + sent);
  ASSERT_EQ(b_.warnings().size(), 1U);
  EXPECT_THAT(b_.warnings()[0], HasSubstr("not of this job"));
}

TEST_F(Between, what_was_sent_to_another_is_dropped) {
  exchange(20);
  for (const auto& bytes : seen_) to_a_.send(bytes);  // reflected
  while (a_.link().counters().forged < seen_.size()) a_.poll();
  exchange(20);
}

TEST_F(Between, what_a_process_sent_before_it_started_again_is_dropped) {
  exchange(20);
  Side again(0);
  Side c(1);
  Middle to_c(test::address_in(c.link().card()));
  c.link().introduce(0, again.link().card());
  again.link().introduce(1, c.link().card());
  for (const auto& bytes : seen_) to_c.send(bytes);
  while (c.link().counters().forged < seen_.size()) c.poll();  // c has another key than b
  again.send(1, 0);
  while (c.numbers().empty()) {
    again.poll();
    c.poll();
  }
  EXPECT_THAT(c.numbers(), ElementsAre(0));
}

// --- Cards

std::string refusal(std::span<const std::byte> card) {
  Side a(0);
  try {
    a.link().introduce(1, card);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(DatagramCard, that_is_damaged_or_of_another_kind_is_refused_in_a_sentence) {
  Side b(1);
  const std::vector<std::byte> good = b.link().card();
  EXPECT_EQ(refusal(good), "no error");
  EXPECT_LE(good.size(), DatagramLink::kMaxCard);
  auto changed = good;
  changed[10] ^= std::byte{1};
  EXPECT_THAT(refusal(changed), HasSubstr("rank 0: the network address of rank 1 is damaged"));
  EXPECT_THAT(refusal(std::span(good).first(20)), HasSubstr("too few to be one"));
  EXPECT_THAT(refusal(std::span(good).first(good.size() - 1)), HasSubstr("is cut off"));
  EXPECT_THAT(refusal(test::with_address(good, std::vector<std::byte>(28))),
              HasSubstr("has 28 bytes where this process's has 16"));
  EXPECT_THAT(refusal(std::vector<std::byte>(80)),
              HasSubstr("give every process the same SPLITC_LINK"));
}

}  // namespace
}  // namespace am::link
