// Replies that the requester cannot take: back to the endpoint that replied.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace rejected_reply_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using Bytes = std::span<const std::byte>;
using Big = std::array<std::uint32_t, 16>;

constexpr std::array<std::byte, 3> kPayload = {std::byte{1}, std::byte{2}, std::byte{3}};
constexpr Big kBig = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

std::uint64_t taken = 0;
void on_short(Reply, std::uint32_t) { ++taken; }
void on_big(Reply, Big) { ++taken; }
void on_medium(Reply, std::span<const std::byte>, std::uint64_t) { ++taken; }
void on_long(Reply, std::span<std::byte>, std::uint64_t) { ++taken; }
void on_other(Reply, std::uint8_t, std::uint64_t) { ++taken; }

// What the requester wants to be answered with.
enum class Want : std::uint32_t { kNothing, kShort, kBig, kMedium, kLong };
std::uint64_t asked = 0;

void on_want(Request request, Want want, std::uint64_t offset) {
  ++asked;
  switch (want) {
    case Want::kNothing: return;
    case Want::kShort: return std::move(request).reply<&on_short>(42u);
    case Want::kBig: return std::move(request).reply<&on_big>(kBig);
    case Want::kMedium: return std::move(request).reply_medium<&on_medium>(kPayload, 43u);
    case Want::kLong: return std::move(request).reply_long<&on_long>(offset, kPayload, 44u);
  }
}

struct Back {
  Status status;
  Kind kind;
  HandlerIndex handler;
  Rank destination;
  std::vector<std::byte> arguments;
  std::vector<std::byte> payload;
  std::uint64_t offset;
  std::uint64_t bytes;
};

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// In each process one endpoint asks, and another, with more handlers, answers.
class RejectedReplies : public testing::Test {
 protected:
  void SetUp() override {
    for (Endpoint* endpoint : {&asker_, &answerer_}) {
      endpoint->set_tag(1);
      endpoint->set_handler<&on_want>(1);
    }
    answerer_.set_handler<&on_short>(10);
    answerer_.set_handler<&on_big>(11);
    answerer_.set_handler<&on_medium>(12);
    answerer_.set_handler<&on_long>(13);
    answerer_.on_returned([this](const Returned& r) {
      EXPECT_EQ(r.role, Role::kReply);
      back_.push_back({r.status,
                       r.kind,
                       r.handler,
                       r.destination,
                       {r.arguments.begin(), r.arguments.end()},
                       {r.payload.begin(), r.payload.end()},
                       r.segment_offset,
                       r.segment_bytes});
    });
    asker_.on_returned([](const Returned&) { ADD_FAILURE() << "the request was delivered"; });
    taken = asked = 0;
    const auto names = job().exchange(answerer_.name());
    asker_.map(0, names[(job().rank() + 1) % job().size()], 1);
  }
  void TearDown() override { barrier(); }

  // Asks for a reply that comes back here, as the same is asked of us by the one to the left.
  Back rejected(Want want, std::uint64_t offset = 0) {
    asker_.request<&on_want>(0, want, offset);
    bundle().wait_until([this] { return !back_.empty(); });
    const Back first = back_.front();
    back_.erase(back_.begin());
    EXPECT_EQ(first.destination, (job().rank() + job().size() - 1) % job().size());
    barrier();
    EXPECT_TRUE(back_.empty());
    EXPECT_EQ(taken, 0u);
    barrier();  // the next one is not asked for before everybody has looked
    return first;
  }

  std::vector<Back> back_;
  Endpoint asker_{bundle()};
  Endpoint answerer_{bundle()};
};

TEST_F(RejectedReplies, to_an_unknown_handler_come_back_to_the_replier) {
  const Back shorter = rejected(Want::kShort);
  EXPECT_EQ(shorter.status, Status::kBadHandler);
  EXPECT_EQ(shorter.kind, Kind::kShort);
  EXPECT_EQ(shorter.handler, 10);
  EXPECT_EQ(shorter.arguments, bytes_of(42u));
  const Back big = rejected(Want::kBig);
  EXPECT_EQ(big.status, Status::kBadHandler);
  EXPECT_EQ(big.arguments, bytes_of(kBig));
  const Back medium = rejected(Want::kMedium);
  EXPECT_EQ(medium.status, Status::kBadHandler);
  EXPECT_EQ(medium.kind, Kind::kMedium);
  EXPECT_EQ(medium.handler, 12);
  EXPECT_EQ(medium.arguments, bytes_of(std::uint64_t{43}));
  EXPECT_EQ(medium.payload, std::vector(kPayload.begin(), kPayload.end()));
  const Back longer = rejected(Want::kLong, 100);
  EXPECT_EQ(longer.status, Status::kBadHandler);
  EXPECT_EQ(longer.kind, Kind::kLong);
  EXPECT_EQ(longer.arguments, bytes_of(std::uint64_t{44}));
  EXPECT_EQ(longer.offset, 100u);
  EXPECT_EQ(longer.bytes, 3u);
}

TEST_F(RejectedReplies, with_other_arguments_come_back_to_the_replier) {
  asker_.set_handler<&on_other>(10);
  asker_.set_handler<&on_short>(12);
  barrier();
  EXPECT_EQ(rejected(Want::kShort).status, Status::kBadArguments);
  EXPECT_EQ(rejected(Want::kMedium).status, Status::kBadArguments);
}

TEST_F(RejectedReplies, beyond_the_segment_come_back_to_the_replier) {
  asker_.set_handler<&on_long>(13);
  asker_.set_segment(asker_.segment().subspan(8192, 1000));
  barrier();
  const Back longer = rejected(Want::kLong, 998);
  EXPECT_EQ(longer.status, Status::kBadLength);
  EXPECT_EQ(longer.offset, 998u);
  EXPECT_EQ(longer.bytes, 3u);
  EXPECT_EQ(longer.arguments, bytes_of(std::uint64_t{44}));
  EXPECT_EQ(rejected(Want::kLong, 1001).status, Status::kBadSegmentOffset);
  asker_.request<&on_want>(0, Want::kLong, 997u);
  bundle().wait_until([] { return taken == 1; });
  barrier();
}

TEST_F(RejectedReplies, in_floods_come_back_once_each_and_lose_no_credit) {
  constexpr std::uint64_t kEach = 500;
  for (std::uint64_t i = 0; i < kEach; ++i) {
    asker_.request<&on_want>(0, static_cast<Want>(i % 5), i);
  }
  bundle().wait_until([&] { return asked == kEach && back_.size() == kEach / 5 * 4; });
  asker_.unmap(0);  // waits for every credit
  barrier();
  EXPECT_EQ(back_.size(), kEach / 5 * 4);
  EXPECT_EQ(taken, 0u);
  EXPECT_EQ(answerer_.stats().returned_here, kEach / 5 * 4);
  EXPECT_EQ(asker_.stats().returned_by_us, kEach / 5 * 4);
}

}  // namespace rejected_reply_test
}  // namespace am
