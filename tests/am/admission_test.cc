// Long messages that are refused have changed nothing, and those that were admitted are delivered,
// whatever the receiver has changed since.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"
#include "tests/support/side_channel.h"

namespace am {
namespace admission_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using Bytes = std::span<const std::byte>;

constexpr Tag kTag = 5;
// Around what fits a packet between nodes; above, the payload is written before its packet.
constexpr std::size_t kSizes[] = {1, 1'000, 4'096, 4'097, 100'000};
constexpr std::size_t kMost = 100'000;
constexpr std::size_t kRoom = 2 * kMost;

std::uint64_t handled = 0;
std::uint64_t handled_by_other = 0;
std::span<std::byte> last;

void on_long(Request, std::span<std::byte> bytes, std::uint32_t) {
  ++handled;
  last = bytes;
}
void on_long_one(OneWay, std::span<std::byte> bytes, std::uint32_t) {
  ++handled;
  last = bytes;
}
void on_other_long(Request, std::span<std::byte>, std::uint64_t) { ++handled_by_other; }
void on_short(Request, std::uint32_t) { ++handled_by_other; }

std::uint64_t replies = 0;
void on_long_reply(Reply, std::span<std::byte> bytes, std::uint32_t) {
  ++replies;
  last = bytes;
}
std::vector<std::byte> reply_of;
void on_ask(Request r, std::uint64_t offset, std::uint32_t bytes) {
  std::move(r).reply_long<&on_long_reply>(offset, Bytes(reply_of).first(bytes), 7u);
}

// Each process sends to the one to its right, and watches its own segment.
class Admission : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.set_handler<&on_long>(10);
    endpoint_.set_handler<&on_long_one>(11);
    endpoint_.set_handler<&on_ask>(12);
    endpoint_.set_handler<&on_long_reply>(13);
    job().connect(endpoint_, kTag);
    endpoint_.on_returned([this](const Returned& r) {
      ++returned_;
      status_ = r.status;
      offset_ = r.segment_offset;
      bytes_ = r.segment_bytes;
      role_ = r.role;
    });
    payload_.assign(kMost, std::byte{2});
    reply_of.assign(kMost, std::byte{3});
    std::memset(memory().data(), 1, kRoom);
    handled = handled_by_other = replies = 0;
    barrier();
  }
  void TearDown() override {
    barrier();
    std::memset(memory().data(), 0, kRoom);
    barrier();
  }

  Rank right() const { return (job().rank() + 1) % job().size(); }
  static std::span<std::byte> memory() { return {job().router().segment(), kRoom}; }
  static bool untouched() {
    return std::ranges::all_of(memory(), [](std::byte b) { return b == std::byte{1}; });
  }

  void send(std::size_t bytes, std::uint64_t offset = 0) {
    endpoint_.request_long<&on_long>(right(), offset, Bytes(payload_).first(bytes), 0u);
    endpoint_.request_long<&on_long_one>(right(), offset, Bytes(payload_).first(bytes), 0u);
  }
  // What the one to the right has announced so far has come.
  void hear_from_right() {
    returned_ = 0;
    endpoint_.request_index(right(), 250, {});
    bundle().wait_until([this] { return returned_ == 1; });
    returned_ = 0;
    barrier();
  }
  // Messages of all sizes come back, and nothing is written anywhere.
  void expect_all_refused(Status status, std::uint64_t offset = 0) {
    for (const std::size_t bytes : kSizes) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      returned_ = 0;
      send(bytes, offset);
      bundle().wait_until([this] { return returned_ == 2; });
      EXPECT_EQ(status_, status);
      EXPECT_EQ(offset_, offset);
      EXPECT_EQ(bytes_, bytes);
      barrier();
      EXPECT_TRUE(untouched());
      barrier();
    }
    EXPECT_EQ(handled, 0u);
    endpoint_.unmap(right());
  }
  void expect_all_delivered(std::uint64_t offset = 0) {
    for (const std::size_t bytes : kSizes) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes");
      send(bytes, offset);
      bundle().wait_until([] { return handled == 2; });
      EXPECT_EQ(last.data(), endpoint_.segment().data() + offset);
      EXPECT_EQ(last.size(), bytes);
      EXPECT_EQ(std::ranges::count(last, std::byte{2}), static_cast<std::ptrdiff_t>(bytes));
      handled = 0;  // before the barrier, in which the next may come
      barrier();
    }
    EXPECT_EQ(returned_, 0u);
  }

  std::vector<std::byte> payload_;
  int returned_ = 0;
  Status status_{};
  Role role_{};
  std::uint64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
  Endpoint endpoint_{bundle()};
};

TEST_F(Admission, is_refused_by_an_endpoint_without_tag) {
  endpoint_.set_tag(kTagNone);
  barrier();
  expect_all_refused(Status::kBadTag);
}

TEST_F(Admission, is_refused_by_an_endpoint_with_another_tag) {
  send(kMost);  // it has known the one before
  bundle().wait_until([] { return handled == 2; });
  barrier();
  std::memset(memory().data(), 1, kRoom);
  handled = 0;
  barrier();
  endpoint_.set_tag(kTag + 1);
  barrier();
  hear_from_right();
  expect_all_refused(Status::kBadTag);
}

TEST_F(Admission, is_refused_where_no_handler_takes_it) {
  Endpoint target(bundle());
  target.set_handler<&on_other_long>(10);
  target.set_handler<&on_short>(11);
  target.set_tag(kTag);
  endpoint_.set_handler<&on_other_long>(20);
  const std::uint32_t to = endpoint_.map_any(job().exchange(target.name())[right()], kTag);
  for (const std::size_t bytes : kSizes) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const Bytes payload = Bytes(payload_).first(bytes);
    const auto expect = [&](Status status) {
      bundle().wait_until([this] { return returned_ == 1; });
      EXPECT_EQ(status_, status);
      returned_ = 0;
    };
    endpoint_.request_long<&on_long>(to, 0, payload, 0u);
    expect(Status::kBadArguments);
    endpoint_.request_long<&on_long_one>(to, 0, payload, 0u);
    expect(Status::kBadArguments);
    endpoint_.request_long<&on_other_long>(to, 0, payload, 0u);
    expect(Status::kBadHandler);
    barrier();
    EXPECT_TRUE(untouched());
    barrier();
  }
  endpoint_.unmap(to);
  EXPECT_EQ(handled + handled_by_other, 0u);
  barrier();
}

TEST_F(Admission, is_refused_outside_the_segment) {
  endpoint_.set_segment(memory().first(1'000));
  barrier();
  expect_all_refused(Status::kBadLength, 1'000);
}

TEST_F(Admission, is_given_by_what_the_receiver_has_set_up_a_moment_ago) {
  endpoint_.set_tag(kTagNone);
  endpoint_.set_segment({});
  barrier();
  send(kMost);
  bundle().wait_until([this] { return returned_ == 2; });
  returned_ = 0;
  barrier();
  endpoint_.set_segment(memory().subspan(1'000));
  endpoint_.set_tag(kTag);
  barrier();  // no message of the other need have come since
  expect_all_delivered(10);
}

// The receiver changes everything between the sending and the delivery.
TEST_F(Admission, is_for_ever) {
  ::test::SideChannel sent("admission");
  Bundle idle(job());
  Endpoint target(idle);
  target.set_handler<&on_long>(10);
  target.set_handler<&on_long_one>(11);
  target.set_tag(kTag);
  target.set_segment(memory().first(kMost));
  const std::uint32_t to = endpoint_.map_any(job().exchange(target.name())[right()], kTag);
  // Introduced and connected, by a message that is handled.
  endpoint_.request_long<&on_long>(to, 0, Bytes(payload_).first(1), 0u);
  idle.wait_until([] { return handled == 1; });
  barrier();
  handled = 0;
  auto meet = [&, now = 0u]() mutable {  // without polling, as a barrier would
    sent.add(1);
    sent.await(now += job().size());
  };
  meet();
  bundle().wait_until([&] { return endpoint_.try_request_long<&on_long>(to, 0, payload_, 0u); });
  bundle().wait_until(
      [&] { return endpoint_.try_request_long<&on_long_one>(to, 0, payload_, 0u); });
  meet();
  EXPECT_EQ(handled, 0u);
  target.set_tag(kTagNone);
  target.set_segment(memory().last(1));
  target.set_handler<&on_short>(10, true);
  target.set_handler<&on_other_long>(11, true);
  idle.wait_until([] { return handled == 2; });
  EXPECT_EQ(last.data(), memory().data());
  EXPECT_EQ(last.size(), kMost);
  EXPECT_EQ(handled_by_other, 0u);
  EXPECT_EQ(returned_, 0);
  barrier();
  // And from here on nothing is.
  std::memset(memory().data(), 1, kRoom);
  barrier();
  hear_from_right();
  bundle().wait_until([&] { return endpoint_.try_request_long<&on_long>(to, 0, payload_, 0u); });
  while (returned_ == 0) {
    idle.poll();
    bundle().poll();
  }
  EXPECT_EQ(status_, Status::kBadTag);
  job().barrier(idle);
  EXPECT_TRUE(untouched());
  barrier();
}

// --- Replies

TEST_F(Admission, of_replies_is_refused_outside_the_segment) {
  endpoint_.set_segment(memory().first(1'000));
  barrier();
  for (const std::size_t bytes : kSizes) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    endpoint_.request<&on_ask>(right(), 1'000ull, static_cast<std::uint32_t>(bytes));
    bundle().wait_until([this] { return returned_ == 1; });  // ours to the one on the left
    EXPECT_EQ(role_, Role::kReply);
    EXPECT_EQ(status_, Status::kBadLength);
    EXPECT_EQ(offset_, 1'000u);
    EXPECT_EQ(bytes_, bytes);
    returned_ = 0;  // before the barrier, in which the next may come back
    barrier();
    EXPECT_TRUE(untouched());
    barrier();
  }
}

TEST_F(Admission, of_replies_follows_the_segment) {
  for (int round = 0; round < 3; ++round) {
    endpoint_.set_segment(memory().subspan(static_cast<std::size_t>(round) * 100, kMost));
    for (const std::size_t bytes : kSizes) {
      replies = 0;
      endpoint_.request<&on_ask>(right(), 0ull, static_cast<std::uint32_t>(bytes));
      bundle().wait_until([] { return replies == 1; });
      EXPECT_EQ(last.data(), endpoint_.segment().data());
      EXPECT_EQ(std::ranges::count(last, std::byte{3}), static_cast<std::ptrdiff_t>(bytes));
    }
  }
  EXPECT_EQ(returned_, 0);
}

// --- To oneself

TEST_F(Admission, of_messages_to_oneself_allows_overlap) {
  for (std::size_t i = 0; i < kRoom; ++i) memory()[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const std::size_t distance : {1u, 8u, 63u, 5'000u}) {
    for (const bool up : {true, false}) {
      const std::size_t from = up ? 1'000 : 1'000 + distance;
      const std::size_t to = up ? 1'000 + distance : 1'000;
      const std::vector<std::byte> expected(
          memory().begin() + static_cast<std::ptrdiff_t>(from),
          memory().begin() + static_cast<std::ptrdiff_t>(from + 50'000));
      handled = 0;
      endpoint_.request_long<&on_long>(job().rank(), to, memory().subspan(from, 50'000), 0u);
      bundle().wait_until([] { return handled == 1; });
      EXPECT_TRUE(std::ranges::equal(last, expected)) << distance << (up ? " up" : " down");
    }
  }
}

}  // namespace admission_test
}  // namespace am
