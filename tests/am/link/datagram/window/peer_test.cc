// When a peer sends what: acknowledgements, questions, and the end of those who do not answer.
#include "am/link/datagram/window/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/am/link/datagram/window/test_seal.h"

namespace am::link::window {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// One process with its only peer.
struct End {
  explicit End(Rank rank, std::uint64_t first_number = 1)
      : options{.rank = rank,
                .incarnation = 100 + rank,
                .most_questions = 10,
                .first_number = first_number} {}

  SlotPool::Source source() {
    return [this](std::size_t bytes) {
      memory.push_back(std::make_unique<std::byte[]>(bytes));
      return SlotPool::Slab{{memory.back().get(), bytes}, nullptr};
    };
  }
  void put(std::uint32_t bytes = 24) {
    const PacketHeader head = make_header(Type::kBarrier, bytes);
    std::memcpy(peer.claim(bytes), &head, sizeof head);
    peer.commit();
  }

  std::vector<std::unique_ptr<std::byte[]>> memory;
  Options options;
  Counters counters;
  Staging staging;
  SlotPool outgoing{source(), 1472};
  SlotPool early{source(), 1472, 256 * 1472};
  Shared shared{options, outgoing, early, staging, counters};
  Peer peer{shared, 101 - options.rank, test_seal(1 - options.rank)};
};

class PeerTest : public testing::Test {
 protected:
  using Sent = std::vector<std::vector<std::byte>>;

  // What `from` sends now.
  Sent send(End& from) const {
    Sent all;
    while (const Outgoing next = from.peer.prepare(now)) {
      all.emplace_back(next.bytes.begin(), next.bytes.end());
      from.peer.sent(next, false);
    }
    return all;
  }
  void receive(End& to, const Sent& all) const {
    for (const auto& bytes : all) {
      Datagram datagram{};
      ASSERT_EQ(decode(bytes, test_seal(to.options.rank), datagram), Decoded::kGood);
      to.peer.receive(datagram, now, true);
    }
  }
  static DatagramHeader header_of(const std::vector<std::byte>& bytes) {
    DatagramHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
  }

  std::int64_t now = 1'000 * kMillisecond;
  End a{0};
  End b{1};
};

TEST_F(PeerTest, an_answer_takes_the_acknowledgement_along) {
  a.put();
  receive(b, send(a));
  b.put();
  const Sent answer = send(b);
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(header_of(answer[0]).ack, 2U);
  receive(a, answer);
  EXPECT_FALSE(a.peer.unacknowledged());
  EXPECT_EQ(b.counters.acks, 0U);
}

TEST_F(PeerTest, without_an_answer_it_is_sent_alone_after_the_delay) {
  a.put();
  receive(b, send(a));
  EXPECT_TRUE(send(b).empty());
  EXPECT_EQ(b.peer.deadline_ns(), now + b.options.ack_delay_ns);
  now += b.options.ack_delay_ns;
  receive(a, send(b));
  EXPECT_EQ(b.counters.acks, 1U);
  EXPECT_FALSE(a.peer.unacknowledged());
  EXPECT_EQ(a.peer.deadline_ns(), Peer::kNever);
}

// Stores in one direction: in the long run one acknowledgement for a quarter of the window.
TEST_F(PeerTest, a_quarter_of_the_window_shares_an_acknowledgement) {
  for (int i = 0; i < 20'000; ++i) {
    a.put(1408);
    receive(b, send(a));
    now += 1'000;
    receive(a, send(b));
    if (i % 16 == 0) now += 20'000;
  }
  EXPECT_EQ(b.counters.received, a.counters.data);
  EXPECT_EQ(a.counters.repeated, 0U);
  EXPECT_LT(b.counters.acks, a.counters.data / 3);
}

TEST_F(PeerTest, a_gap_is_reported_at_once_and_what_is_missing_comes_again) {
  a.put(1408);
  a.put(1408);
  a.put(1408);
  Sent three = send(a);
  ASSERT_EQ(three.size(), 3U);
  now += 50'000;
  receive(b, {three[0], three[2]});
  const Sent report = send(b);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(header_of(report[0]).ack, 2U);
  EXPECT_EQ(header_of(report[0]).selective[0], 1U);
  now += 50'000;
  receive(a, report);
  now += a.peer.round_trip().reordering_ns();
  const Sent again = send(a);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(header_of(again[0]).number, 2U);
  receive(b, again);
  EXPECT_EQ(b.peer.arrived(), 4U);
}

TEST_F(PeerTest, silence_is_questioned_ever_more_seldom_until_the_peer_is_given_up) {
  a.put();
  ASSERT_EQ(send(a).size(), 1U);
  std::int64_t last = 0;
  for (unsigned question = 1; question <= a.options.most_questions; ++question) {
    const std::int64_t due = a.peer.deadline_ns();
    ASSERT_GT(due, now);
    EXPECT_GE(due - now, last);
    last = due - now;
    now = due;
    EXPECT_EQ(send(a).size(), 1U);
  }
  now = a.peer.deadline_ns();
  EXPECT_TRUE(send(a).empty());
  EXPECT_TRUE(a.peer.dead());
  EXPECT_EQ(a.counters.timeouts, a.options.most_questions + 1);
}

TEST_F(PeerTest, a_process_that_computes_for_hours_is_not_given_up) {
  constexpr std::int64_t kHour = 3'600'000 * kMillisecond;
  a.options.most_questions = Options{}.most_questions;
  a.put();
  static_cast<void>(send(a));
  const std::int64_t begun = now;
  while (now < begun + 20 * kHour && !a.peer.dead()) {
    now = a.peer.deadline_ns();
    static_cast<void>(send(a));
  }
  EXPECT_FALSE(a.peer.dead());
  EXPECT_NEAR(static_cast<double>(a.peer.unanswered_ns(now)), 20.0 * kHour, 1e3 * kMillisecond);
}

TEST_F(PeerTest, a_long_pause_of_this_process_is_one_question_and_no_death) {
  a.put();
  static_cast<void>(send(a));
  now += 3'600'000 * kMillisecond;
  EXPECT_EQ(send(a).size(), 1U);
  EXPECT_FALSE(a.peer.dead());
}

TEST_F(PeerTest, who_was_heard_is_asked_for_a_sign_of_life) {
  a.peer.keep_alive(now);
  EXPECT_TRUE(send(a).empty());  // never heard
  b.put();
  receive(a, send(b));
  now += a.options.ack_delay_ns;
  receive(b, send(a));
  now += a.options.keep_alive_ns;
  a.peer.keep_alive(now);
  const Sent probe = send(a);
  ASSERT_EQ(probe.size(), 1U);
  EXPECT_EQ(header_of(probe[0]).flags, DatagramHeader::kProbe | DatagramHeader::kVersion);
  EXPECT_NE(a.peer.deadline_ns(), Peer::kNever);
  receive(b, probe);
  receive(a, send(b));
  EXPECT_EQ(a.peer.deadline_ns(), Peer::kNever);
}

// What prepare() has made is not on its way if the network has no room for it.
TEST_F(PeerTest, that_there_is_room_again_is_said_until_it_is_sent) {
  for (int i = 0; i < 200; ++i) a.put(1408);
  const auto keep = [this] {  // nothing can be delivered
    for (const auto& bytes : send(a)) {
      Datagram datagram{};
      ASSERT_EQ(decode(bytes, test_seal(1), datagram), Decoded::kGood);
      b.peer.receive(datagram, now, false);
    }
  };
  for (int i = 0; i < 100; ++i, now += kMillisecond) {
    keep();
    receive(a, send(b));
  }
  ASSERT_EQ(a.peer.in_flight(), 0U);
  ASSERT_GT(a.peer.queued(), 0U);  // there is no room
  ASSERT_TRUE(send(b).empty());
  while (Slot* const slot = b.peer.next_kept()) b.early.give_back(*slot);
  EXPECT_EQ(b.peer.deadline_ns(), 0);
  EXPECT_TRUE(b.peer.prepare(now));
  EXPECT_EQ(b.peer.deadline_ns(), 0);
  receive(a, send(b));
  EXPECT_FALSE(send(a).empty());
}

// Before the peer has said how much room it has, and then.
TEST_F(PeerTest, no_more_is_on_its_way_than_the_peer_has_room_for) {
  b.shared.room = 40'000;
  for (int i = 0; i < 200; ++i) a.put(1408);
  std::uint32_t room = Peer::kRoomUnasked;
  while (a.peer.queued() != 0) {
    const Sent some = send(a);
    EXPECT_FALSE(some.empty());
    EXPECT_LE(a.peer.charged(), room);
    now += 10'000;
    receive(b, some);
    now += kMillisecond;
    receive(a, send(b));
    room = b.shared.room;
  }
  EXPECT_EQ(a.counters.repeated, 0U);
}

TEST_F(PeerTest, one_datagram_may_always_be_on_its_way) {
  b.shared.room = 0;
  for (int i = 0; i < 20; ++i) a.put(1408);
  while (a.peer.queued() != 0) {
    receive(b, send(a));
    now += kMillisecond;
    receive(a, send(b));
  }
  EXPECT_EQ(a.counters.timeouts, 0U);
}

TEST_F(PeerTest, full_ones_are_sent_while_more_follows) {
  a.put(1408);
  EXPECT_FALSE(a.peer.prepare(now, true));
  a.put(1408);
  const Outgoing first = a.peer.prepare(now, true);
  ASSERT_TRUE(first);
  a.peer.sent(first, false);
  EXPECT_FALSE(a.peer.prepare(now, true));
  EXPECT_EQ(send(a).size(), 1U);
}

TEST_F(PeerTest, what_another_incarnation_sent_is_dropped) {
  End stranger(1);
  stranger.options.incarnation = 77;
  stranger.put();
  receive(a, send(stranger));
  EXPECT_EQ(a.counters.old, 1U);
  EXPECT_EQ(a.counters.received, 0U);
  EXPECT_EQ(a.peer.arrived(), 1U);
}

// The numbers have gone round once since.
TEST_F(PeerTest, what_is_replayed_after_2_to_the_32_datagrams_is_dropped) {
  constexpr std::uint64_t kFirst = 5;
  const auto datagram_of = [this](std::uint64_t number) {
    End sender(1, number);
    sender.put();
    return send(sender);
  };
  const Sent old = datagram_of(kFirst + 1);
  now += 400'000 * kMillisecond;  // at 10 million a second
  End receiver(0, (std::uint64_t{1} << 32) + kFirst);
  receive(receiver, datagram_of((std::uint64_t{1} << 32) + kFirst));
  const std::uint64_t next = receiver.peer.arrived();
  ASSERT_EQ(static_cast<std::uint32_t>(next), kFirst + 1);
  receive(receiver, old);
  EXPECT_EQ(receiver.peer.arrived(), next);
  EXPECT_EQ(receiver.counters.stale, 1U);
}

TEST_F(PeerTest, what_is_replayed_says_nothing_of_the_peer_being_alive) {
  b.put();
  const Sent old = send(b);
  receive(a, old);
  a.put();
  static_cast<void>(send(a));
  for (int i = 0; i < 1'000 && !a.peer.dead(); ++i) {
    receive(a, old);
    static_cast<void>(send(a));
    now = std::max(now, a.peer.deadline_ns());
    static_cast<void>(send(a));
  }
  EXPECT_TRUE(a.peer.dead());
  EXPECT_GT(a.counters.duplicates, 0U);
}

}  // namespace
}  // namespace am::link::window
