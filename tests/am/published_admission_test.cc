#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "am/message/admission.h"

namespace am {
namespace {

constexpr Shape kShape = make_shape(Role::kRequest, Kind::kLong, 2);
constexpr Shape kOther = make_shape(Role::kRequest, Kind::kLong, 3);

PublishedAdmission usual() {
  PublishedAdmission admission;
  admission.set_tag(7);
  admission.set_extent({1'000, 100});
  admission.set_shape(9, kShape);
  return admission;
}

TEST(PublishedAdmission, admits_nothing_at_first) {
  const PublishedAdmission admission;
  EXPECT_EQ(admission.judge_request({1, kShape, 0, 0}, 7).status, Status::kBadTag);
  EXPECT_EQ(admission.judge_request({1, kShape, 0, 0}, kTagNone).status, Status::kBadTag);
  EXPECT_EQ(admission.judge_reply({1, kShape, 0, 0}, 0, 0).status, Status::kBadHandler);
}

TEST(PublishedAdmission, judges_by_tag_then_handler_then_place) {
  const PublishedAdmission admission = usual();
  const auto judged = [&](HandlerIndex handler, Shape shape, std::uint64_t offset,
                          std::uint64_t bytes, Tag tag = 7) {
    return admission.judge_request({handler, shape, offset, bytes}, tag);
  };
  EXPECT_EQ(judged(9, kShape, 20, 80).status, Status::kDelivered);
  EXPECT_EQ(judged(9, kShape, 20, 80).at, 1'020u);
  EXPECT_EQ(judged(9, kShape, 100, 0).status, Status::kDelivered);
  EXPECT_EQ(judged(9, kShape, 20, 81).status, Status::kBadLength);
  EXPECT_EQ(judged(9, kShape, 101, 0).status, Status::kBadSegmentOffset);
  EXPECT_EQ(judged(9, kShape, ~std::uint64_t{0}, 2).status, Status::kBadSegmentOffset);
  EXPECT_EQ(judged(9, kShape, 1, ~std::uint64_t{0}).status, Status::kBadLength);
  EXPECT_EQ(judged(9, kOther, 200, 1).status, Status::kBadArguments);
  EXPECT_EQ(judged(8, kShape, 200, 1).status, Status::kBadHandler);
  EXPECT_EQ(judged(8, kOther, 200, 1, 8).status, Status::kBadTag);
}

TEST(PublishedAdmission, knows_the_wildcard) {
  PublishedAdmission admission = usual();
  admission.set_tag(kTagAll);
  EXPECT_EQ(admission.judge_request({9, kShape, 0, 1}, 1234).status, Status::kDelivered);
  EXPECT_EQ(admission.judge_request({9, kShape, 0, 1}, kTagNone).status, Status::kDelivered);
  admission.set_tag(7);
  EXPECT_EQ(admission.judge_request({9, kShape, 0, 1}, kTagAll).status, Status::kBadTag);
}

TEST(PublishedAdmission, judges_replies_by_their_slots) {
  PublishedAdmission admission = usual();
  admission.set_retagged({1u << 3, 0, 1u << 15});
  const LongRequest reply{9, kShape, 0, 1};
  EXPECT_EQ(admission.judge_reply(reply, 0, 3).status, Status::kBadTag);
  EXPECT_EQ(admission.judge_reply(reply, 0, 4).status, Status::kDelivered);
  EXPECT_EQ(admission.judge_reply(reply, 1, 3).status, Status::kDelivered);
  EXPECT_EQ(admission.judge_reply(reply, 2, 15).status, Status::kBadTag);
  admission.set_gone();
  EXPECT_EQ(admission.judge_reply(reply, 0, 4).status, Status::kBadEndpoint);
}

// The owner changes tag and segment together, so that one of them forbids the message at any time:
// a reader that mixes old and new would admit it.
TEST(PublishedAdmission, is_read_as_it_was_at_one_moment) {
  PublishedAdmission admission;
  admission.set_shape(9, kShape);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> read{0};
  std::uint64_t admitted = 0;
  std::thread reader([&] {
    while (!done.load(std::memory_order_relaxed)) {
      admitted += admission.judge_request({9, kShape, 500, 1}, 7).status == Status::kDelivered;
      read.fetch_add(1, std::memory_order_relaxed);
    }
  });
  constexpr std::uint64_t kReads = 1'000;  // a busy machine may start the reader late
  for (int i = 0; i < 100'000 || read.load(std::memory_order_relaxed) < kReads; ++i) {
    admission.set_extent({0, 100});  // too short
    admission.set_tag(7);
    admission.set_tag(8);  // another
    admission.set_extent({0, 1'000});
    if (i % 1'024 == 0) sched_yield();
  }
  done.store(true, std::memory_order_relaxed);
  reader.join();
  EXPECT_EQ(admitted, 0u);
}

}  // namespace
}  // namespace am
