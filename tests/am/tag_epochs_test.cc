#include "am/message/tag_epochs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <random>

#include "tests/support/seed.h"

namespace am {
namespace {

TEST(TagEpochs, begin_without_a_tag) {
  TagEpochs epochs;
  EXPECT_EQ(epochs.current(), 0);
  EXPECT_EQ(epochs.answered(0), std::nullopt) << "nothing was sent";
  epochs.sent();
  EXPECT_EQ(epochs.answered(0), kTagNone);
}

TEST(TagEpochs, tell_with_which_tag_a_request_was_made) {
  TagEpochs epochs;
  ASSERT_TRUE(epochs.change(7));
  const auto first = epochs.current();
  epochs.sent();
  ASSERT_TRUE(epochs.change(8));
  const auto second = epochs.current();
  EXPECT_NE(first, second);
  epochs.sent();
  epochs.sent();
  EXPECT_EQ(epochs.answered(first), 7u);
  EXPECT_EQ(epochs.answered(first), std::nullopt) << "it has been answered";
  EXPECT_EQ(epochs.answered(second), 8u);
  EXPECT_EQ(epochs.answered(4711), std::nullopt);
}

TEST(TagEpochs, are_the_same_for_the_same_tag_while_replies_are_to_come) {
  TagEpochs epochs;
  ASSERT_TRUE(epochs.change(7));
  const auto first = epochs.current();
  epochs.sent();
  ASSERT_TRUE(epochs.change(8));
  ASSERT_TRUE(epochs.change(7));
  EXPECT_EQ(epochs.current(), first);
  EXPECT_EQ(epochs.answered(first), 7u);
}

// Random changes beside a model that knows of each request its tag.
TEST(TagEpochs, agree_with_a_list_of_requests) {
  std::mt19937_64 random(::test::seed());
  TagEpochs epochs;
  struct Request {
    TagEpochs::Epoch epoch;
    Tag tag;
  };
  std::deque<Request> requests;
  Tag tag = kTagNone;
  for (int step = 0; step < 300'000; ++step) {
    switch (random() % 3) {
      case 0:
        tag = random() % 3 == 0 ? kTagNone : random() % 50;
        ASSERT_TRUE(epochs.change(tag));
        break;
      case 1:
        if (requests.size() > 100) break;
        epochs.sent();
        requests.push_back({epochs.current(), tag});
        break;
      default:
        if (requests.empty()) break;
        const auto which = static_cast<std::ptrdiff_t>(random() % requests.size());
        const Request request = requests[static_cast<std::size_t>(which)];
        ASSERT_EQ(epochs.answered(request.epoch), request.tag);
        requests.erase(requests.begin() + which);
    }
  }
}

TEST(TagEpochs, are_not_given_twice_however_often_the_tag_changes) {
  TagEpochs epochs;
  ASSERT_TRUE(epochs.change(1));
  const auto first = epochs.current();
  epochs.sent();
  for (Tag tag = 2; tag < 200'000; ++tag) {
    ASSERT_TRUE(epochs.change(tag));
    ASSERT_NE(epochs.current(), first);
    ASSERT_NE(epochs.current(), 0);
  }
  EXPECT_EQ(epochs.answered(first), 1u);
}

TEST(TagEpochs, run_out_only_when_all_belong_to_requests_without_reply) {
  BasicTagEpochs<std::uint8_t> epochs;
  Tag tag = 1;
  for (; epochs.change(tag); ++tag) {
    epochs.sent();
    ASSERT_EQ(epochs.current(), tag);
  }
  EXPECT_EQ(tag, 256u);
  EXPECT_EQ(epochs.current(), 255) << "as before";
  EXPECT_TRUE(epochs.change(kTagNone)) << "which has its own";
  EXPECT_TRUE(epochs.change(17)) << "one of them";
  EXPECT_FALSE(epochs.change(tag));
  EXPECT_EQ(epochs.answered(3), 3u);
  EXPECT_TRUE(epochs.change(tag)) << "one is free again";
  EXPECT_EQ(epochs.current(), 3);
}

}  // namespace
}  // namespace am
