#include "shmem/attention.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace shmem {
namespace {

constexpr std::uint32_t kPlaces = 200;

// A receiver whose places hold a message or none.
class AttentionTest : public testing::Test {
 protected:
  // As a sender does. `sees_bit`: it takes the bit for set, as it was a moment ago.
  void send(std::uint32_t place, bool sees_bit = false) {
    messages_.insert(place);
    if (!sees_bit && !bits_->raised(place)) bits_->raise(place);
  }
  int poll() {
    return attention_.poll([](std::uint32_t place) { return place; },
                           [&](std::uint32_t place) { return static_cast<int>(take(place)); });
  }
  // Returns how many messages came before the receiver cleared the bit of `place`.
  int poll_until_cleared(std::uint32_t place) {
    int count = 0;
    while (bits_->raised(place)) count += poll();
    return count;
  }

  std::size_t take(std::uint32_t place) { return messages_.erase(place); }

  const std::unique_ptr<AttentionBits<kPlaces>> bits_ = std::make_unique<AttentionBits<kPlaces>>();
  Attention<kPlaces, std::uint32_t> attention_{*bits_, Fence(false)};
  std::set<std::uint32_t> messages_;
};

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

}  // namespace
}  // namespace shmem
