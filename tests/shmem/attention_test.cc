#include "shmem/attention.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

namespace shmem {
namespace {

constexpr std::uint32_t kPlaces = 200;

// A receiver whose places hold a message or none, and who visits at most kVain of them in vain.
template <std::uint32_t kVain>
class Receiver : public testing::Test {
 protected:
  // As a sender does. `sees_bit`: it takes the bit for set, as it was a moment ago.
  void send(std::uint32_t place, bool sees_bit = false) {
    messages_.insert(place);
    if (!sees_bit && !bits_->raised(place)) bits_->raise(place);
  }
  int poll() {
    visits_ = 0;
    return attention_.poll([](std::uint32_t place) { return place; },
                           [&](std::uint32_t place) {
                             ++visits_;
                             return static_cast<int>(take(place));
                           });
  }
  // Returns how many messages came before the receiver cleared the bit of `place`.
  int poll_until_cleared(std::uint32_t place) {
    int count = 0;
    while (bits_->raised(place)) count += poll();
    return count;
  }

  std::size_t take(std::uint32_t place) { return messages_.erase(place); }

  const std::unique_ptr<AttentionBits<kPlaces>> bits_ = std::make_unique<AttentionBits<kPlaces>>();
  Attention<kPlaces, std::uint32_t, kVain> attention_{*bits_, Fence(false)};
  std::set<std::uint32_t> messages_;
  int visits_ = 0;  // of the last poll
};
using AttentionTest = Receiver<kPlaces>;
using FewVisits = Receiver<2>;

TEST_F(AttentionTest, polls_a_place_from_its_first_message_on) {
  EXPECT_EQ(poll(), 0);
  send(150);
  EXPECT_EQ(poll(), 1);
  EXPECT_EQ(attention_.active(), 1u);
  send(150);
  EXPECT_EQ(poll(), 1);
}

TEST_F(AttentionTest, lets_go_of_an_idle_place_until_it_is_raised_again) {
  send(3);
  poll_until_cleared(3);
  while (attention_.active() != 0) EXPECT_EQ(poll(), 0);
  send(3, true);
  EXPECT_EQ(poll(), 0) << "nothing says that there is something";
  send(3);
  EXPECT_EQ(poll(), 1);
  EXPECT_TRUE(bits_->raised(3));
}

TEST_F(AttentionTest, finds_what_becomes_visible_after_the_bit_was_cleared) {
  send(3);
  EXPECT_EQ(poll_until_cleared(3), 1);
  for (int round = 0; round < 3; ++round) {
    send(3, true);  // its sender has seen the bit
    EXPECT_EQ(poll(), 1);
    while (!bits_->raised(3)) EXPECT_EQ(poll(), 0);
    EXPECT_EQ(attention_.active(), 1u) << "it is polled on";
    poll_until_cleared(3);
  }
}

TEST_F(AttentionTest, polls_a_place_on_that_is_raised_while_it_leaves) {
  send(3);
  poll_until_cleared(3);
  bits_->raise(3);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(attention_.active(), 1u);
    poll();
    if (!bits_->raised(3)) bits_->raise(3);
  }
}

TEST_F(AttentionTest, lets_go_of_idle_places_while_others_are_busy) {
  for (std::uint32_t place = 0; place < kPlaces; ++place) send(place);
  EXPECT_EQ(poll(), static_cast<int>(kPlaces));
  for (int i = 0; i < 20'000; ++i) {
    send(70);
    ASSERT_EQ(poll(), 1);
  }
  EXPECT_EQ(attention_.active(), 1u);
}

TEST_F(FewVisits, take_all_that_has_come_to_fresh_places_at_once) {
  for (std::uint32_t place = 0; place < kPlaces; ++place) send(place);
  EXPECT_EQ(poll(), static_cast<int>(kPlaces));
  EXPECT_EQ(poll(), 0);
  EXPECT_EQ(visits_, 2);
  for (std::uint32_t place = 0; place < kPlaces; ++place) send(place);
  EXPECT_EQ(poll(), static_cast<int>(kPlaces)) << "what has come is not visited in vain";
}

TEST_F(FewVisits, find_what_came_to_one_of_many_after_as_many_polls) {
  for (std::uint32_t place = 0; place < kPlaces; ++place) send(place);
  poll();
  for (std::uint32_t place = 0; place < kPlaces; place += 7) {
    send(place);
    int polls = 1;
    while (poll() == 0) {
      ASSERT_LE(visits_, 2);
      ++polls;
    }
    EXPECT_LE(polls, static_cast<int>(kPlaces));
  }
}

TEST_F(FewVisits, find_at_once_what_comes_where_something_came_last) {
  for (std::uint32_t place = 0; place < kPlaces; ++place) send(place);
  poll();
  send(70);
  while (poll() == 0) continue;
  for (int i = 0; i < 1000; ++i) {
    send(70);
    ASSERT_EQ(poll(), 1);
    poll();
  }
}

TEST_F(FewVisits, pass_over_nobody_while_fresh_places_come) {
  for (std::uint32_t place = 0; place < kPlaces / 2; ++place) send(place);
  poll();
  messages_.insert(kPlaces / 2 - 1);
  for (std::uint32_t fresh = kPlaces / 2; messages_.contains(kPlaces / 2 - 1); ++fresh) {
    ASSERT_LT(fresh, kPlaces);
    send(fresh);
    poll();
    EXPECT_FALSE(messages_.contains(fresh));
  }
}

TEST_F(FewVisits, lose_nothing_while_places_come_and_go) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    // Bursts to some places, and long rests, in which others become idle.
    if (random() % 3000 < 30) send(random() % (1 + random() % kPlaces));
    poll();
    if (i % 20'000 != 0) continue;
    for (std::uint32_t polls = 0; polls <= kPlaces && !messages_.empty(); ++polls) poll();
    ASSERT_TRUE(messages_.empty()) << "after " << i << " polls";
  }
}

}  // namespace
}  // namespace shmem
