// Messages that cannot be delivered: back to their sender once, whole, at no loss of a credit.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace returned_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using Bytes = std::span<const std::byte>;

constexpr Tag kTag = 5;

// A copy of am::Returned that outlives its handler.
struct Back {
  Status status;
  Role role;
  Kind kind;
  HandlerIndex handler;
  Rank destination;
  std::vector<std::byte> arguments;
  std::vector<std::byte> payload;
  std::uint64_t offset;
  std::uint64_t bytes;

  explicit Back(const Returned& r)
      : status(r.status),
        role(r.role),
        kind(r.kind),
        handler(r.handler),
        destination(r.destination),
        arguments(r.arguments.begin(), r.arguments.end()),
        payload(r.payload.begin(), r.payload.end()),
        offset(r.segment_offset),
        bytes(r.segment_bytes) {}
};

template <class... Args>
std::vector<std::byte> packed(const Args&... args) {
  std::vector<std::byte> bytes;
  const auto append = [&](const auto& value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  (append(args), ...);
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

std::uint64_t delivered = 0;

void on_short(Request, std::uint64_t) { ++delivered; }
void on_short_one(OneWay, std::uint64_t) { ++delivered; }
void on_medium(Request, std::span<const std::byte>, std::uint32_t, double) { ++delivered; }
void on_medium_one(OneWay, std::span<const std::byte>, std::uint32_t, double) { ++delivered; }
void on_long(Request, std::span<std::byte>, std::uint16_t) { ++delivered; }
void on_long_one(OneWay, std::span<std::byte>, std::uint16_t) { ++delivered; }
using Big = std::array<std::uint64_t, 8>;
void on_big(Request, Big) { ++delivered; }
void on_big_one(OneWay, std::span<const std::byte>, Big) { ++delivered; }

// Each process sends to the one to its right, which is set up to refuse.
class ReturnedMessages : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_short, &on_short_one, &on_medium, &on_medium_one, &on_long,
                           &on_long_one, &on_big, &on_big_one>();
    job().connect(endpoint_, kTag);
    endpoint_.on_returned([this](const Returned& r) {
      EXPECT_TRUE(bundle().handling());
      back_.emplace_back(r);
    });
    delivered = 0;
    for (std::byte& b : payload_) b = static_cast<std::byte>(random_());
    barrier();
  }
  void TearDown() override { barrier(); }

  Rank right() const { return (job().rank() + 1) % job().size(); }

  // Waits for the next returned message, and checks what all of them have in common.
  Back next_back(Status status, Role role, Kind kind) {
    bundle().wait_until([this] { return !back_.empty(); });
    Back first = back_.front();
    back_.erase(back_.begin());
    EXPECT_EQ(first.status, status);
    EXPECT_EQ(first.role, role);
    EXPECT_EQ(first.kind, kind);
    EXPECT_EQ(first.destination, right());
    return first;
  }

  // One message of every kind and role, all of which come back.
  void expect_all_returned(Status status) {
    const Bytes payload(payload_);
    const Big big{random_(), 1, 2, 3, 4, 5, 6, random_()};
    const auto n = random_();
    endpoint_.request<&on_short>(right(), n);
    EXPECT_EQ(next_back(status, Role::kRequest, Kind::kShort).arguments, packed(n));
    endpoint_.request<&on_short_one>(right(), n);
    EXPECT_EQ(next_back(status, Role::kOneWay, Kind::kShort).arguments, packed(n));
    endpoint_.request<&on_big>(right(), big);
    EXPECT_EQ(next_back(status, Role::kRequest, Kind::kShort).arguments, packed(big));
    endpoint_.request_medium<&on_medium>(right(), payload, 77u, 0.5);
    expect_medium(next_back(status, Role::kRequest, Kind::kMedium), payload, packed(77u, 0.5));
    endpoint_.request_medium<&on_medium_one>(right(), payload.first(1), 78u, 1.5);
    expect_medium(next_back(status, Role::kOneWay, Kind::kMedium), payload.first(1),
                  packed(78u, 1.5));
    endpoint_.request_medium<&on_big_one>(right(), {}, big);
    expect_medium(next_back(status, Role::kOneWay, Kind::kMedium), {}, packed(big));
    const std::uint16_t word = 4711;
    endpoint_.request_long<&on_long>(right(), 64, payload, word);
    expect_long(next_back(status, Role::kRequest, Kind::kLong), 64, payload.size());
    endpoint_.request_long<&on_long_one>(right(), 128, payload.first(5), word);
    expect_long(next_back(status, Role::kOneWay, Kind::kLong), 128, 5);
    expect_settled();
  }
  void expect_medium(const Back& back, Bytes payload, const std::vector<std::byte>& arguments) {
    EXPECT_EQ(back.payload, std::vector<std::byte>(payload.begin(), payload.end()));
    EXPECT_EQ(back.arguments, arguments);
  }
  void expect_long(const Back& back, std::uint64_t offset, std::uint64_t bytes) {
    EXPECT_EQ(back.offset, offset);
    EXPECT_EQ(back.bytes, bytes);
    EXPECT_EQ(back.arguments, packed(std::uint16_t{4711}));
  }
  // Nothing was delivered, nothing comes back twice, and every credit of ours is here again.
  void expect_settled() {
    barrier();
    EXPECT_EQ(delivered, 0u);
    EXPECT_TRUE(back_.empty());
    endpoint_.unmap(right());
    barrier();
    EXPECT_TRUE(back_.empty());
    EXPECT_EQ(delivered, 0u);
    const Stats& stats = endpoint_.stats();
    EXPECT_EQ(stats.returned_here, stats.returned_by_us);  // all do the same
    EXPECT_EQ(stats[Kind::kShort].requests_received + stats[Kind::kShort].one_way_received, 0u);
  }

  std::mt19937_64 random_{::test::seed() + job().rank()};
  std::array<std::byte, 4096> payload_;
  std::vector<Back> back_;
  Endpoint endpoint_{bundle()};
};

TEST_F(ReturnedMessages, with_another_tag_come_back) {
  endpoint_.set_tag(kTag + 1);
  barrier();
  expect_all_returned(Status::kBadTag);
}

TEST_F(ReturnedMessages, to_an_endpoint_without_tag_come_back) {
  endpoint_.set_tag(kTagNone);
  barrier();
  expect_all_returned(Status::kBadTag);
}

TEST_F(ReturnedMessages, sent_with_no_tag_or_the_wildcard_come_back) {
  const Name name = endpoint_.translation_name(right());
  const std::uint32_t none = endpoint_.map_any(name, kTagNone);
  const std::uint32_t all = endpoint_.map_any(name, kTagAll);
  endpoint_.request<&on_short>(none, 1u);
  next_back(Status::kBadTag, Role::kRequest, Kind::kShort);
  endpoint_.request<&on_short>(all, 1u);  // the wildcard is the receiver's to choose
  next_back(Status::kBadTag, Role::kRequest, Kind::kShort);
  expect_settled();
}

TEST_F(ReturnedMessages, do_not_exist_for_an_endpoint_that_takes_all_tags) {
  endpoint_.set_tag(kTagAll);
  barrier();
  const Name name = endpoint_.translation_name(right());
  endpoint_.request<&on_short>(right(), 1u);
  endpoint_.request<&on_short>(endpoint_.map_any(name, 12345), 2u);
  endpoint_.request<&on_short>(endpoint_.map_any(name, kTagNone), 2u);
  endpoint_.request<&on_short_one>(endpoint_.map_any(name, kTagAll), 3u);
  bundle().wait_until([] { return delivered == 4; });
  barrier();
  EXPECT_TRUE(back_.empty());
}

TEST_F(ReturnedMessages, end_when_the_tag_is_right_again) {
  endpoint_.set_tag(1234);
  barrier();
  endpoint_.request<&on_short>(right(), 1u);
  next_back(Status::kBadTag, Role::kRequest, Kind::kShort);
  barrier();
  endpoint_.set_tag(kTag);
  barrier();
  endpoint_.request<&on_short>(right(), 2u);
  bundle().wait_until([] { return delivered == 1; });
  EXPECT_TRUE(back_.empty());
}

TEST_F(ReturnedMessages, to_an_unknown_handler_come_back) {
  const std::array<std::uint32_t, 16> words{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const std::size_t count : {0u, 1u, 6u, 7u, 16u}) {
    const auto some = std::span(words).first(count);
    std::vector<std::byte> expected(std::as_bytes(some).begin(), std::as_bytes(some).end());
    endpoint_.request_index(right(), 200, some);
    Back back = next_back(Status::kBadHandler, Role::kRequest, Kind::kShort);
    EXPECT_EQ(back.handler, 200);
    EXPECT_EQ(back.arguments, expected);
    endpoint_.request_index(right(), 255, some, Role::kOneWay);
    back = next_back(Status::kBadHandler, Role::kOneWay, Kind::kShort);
    EXPECT_EQ(back.handler, 255);
    EXPECT_EQ(back.arguments, expected);
  }
  expect_settled();
}

TEST_F(ReturnedMessages, with_other_arguments_come_back) {
  const std::array<std::uint32_t, 3> words{7, 8, 9};  // on_short, index 1, takes two words
  for (const std::size_t count : {0u, 1u, 3u}) {
    endpoint_.request_index(right(), 1, std::span(words).first(count));
    EXPECT_EQ(next_back(Status::kBadArguments, Role::kRequest, Kind::kShort).handler, 1);
    endpoint_.request_index(right(), 2, std::span(words).first(count), Role::kOneWay);
    EXPECT_EQ(next_back(Status::kBadArguments, Role::kOneWay, Kind::kShort).handler, 2);
  }
  expect_settled();
}

TEST_F(ReturnedMessages, of_another_category_or_role_come_back) {
  const std::array<std::uint32_t, 3> words{};
  for (const HandlerIndex index : {2, 3, 4, 5, 6}) {
    endpoint_.request_index(right(), index, std::span(words).first(index == 2 ? 2 : 3));
    EXPECT_EQ(next_back(Status::kBadArguments, Role::kRequest, Kind::kShort).handler, index);
  }
  endpoint_.request_index(right(), 1, std::span(words).first(2), Role::kOneWay);
  EXPECT_EQ(next_back(Status::kBadArguments, Role::kOneWay, Kind::kShort).handler, 1);
  expect_settled();
}

TEST_F(ReturnedMessages, beyond_the_segment_come_back_and_write_nothing) {
  const std::uint64_t end = endpoint_.segment().size();
  std::memset(job().router().segment(), 0, 16384);
  endpoint_.set_segment(endpoint_.segment().subspan(4096, 8192));
  barrier();
  const Bytes payload = Bytes(payload_).first(100);
  struct Case {
    std::uint64_t offset;
    Status status;
  };
  const std::uint16_t word = 4711;
  for (const auto& [offset, status] :
       {Case{8192 - 99, Status::kBadLength}, Case{8192, Status::kBadLength},
        Case{8193, Status::kBadSegmentOffset}, Case{end, Status::kBadSegmentOffset},
        Case{~std::uint64_t{0} - 50, Status::kBadSegmentOffset},
        Case{~std::uint64_t{0}, Status::kBadSegmentOffset}}) {
    endpoint_.request_long<&on_long>(right(), offset, payload, word);
    expect_long(next_back(status, Role::kRequest, Kind::kLong), offset, 100);
    endpoint_.request_long<&on_long_one>(right(), offset, payload, word);
    expect_long(next_back(status, Role::kOneWay, Kind::kLong), offset, 100);
  }
  expect_settled();
  for (const std::byte b : std::span(job().router().segment(), 16384)) ASSERT_EQ(b, std::byte{0});
}

TEST_F(ReturnedMessages, that_end_with_the_segment_are_delivered) {
  endpoint_.set_segment(endpoint_.segment().subspan(4096, 8192));
  barrier();
  endpoint_.request_long<&on_long>(right(), 8192 - 100, Bytes(payload_).first(100),
                                   std::uint16_t{1});
  endpoint_.request_long<&on_long_one>(right(), 8192, {}, std::uint16_t{1});
  endpoint_.request_long<&on_long_one>(right(), 0, Bytes(payload_), std::uint16_t{1});
  bundle().wait_until([] { return delivered == 3; });
  barrier();
  EXPECT_TRUE(back_.empty());
  std::memset(job().router().segment(), 0, 16384);
}

TEST_F(ReturnedMessages, to_an_empty_segment_come_back) {
  endpoint_.set_segment({});
  barrier();
  endpoint_.request_long<&on_long>(right(), 0, Bytes(payload_).first(1), std::uint16_t{4711});
  expect_long(next_back(Status::kBadSegmentOffset, Role::kRequest, Kind::kLong), 0, 1);
  expect_settled();
}

TEST_F(ReturnedMessages, in_floods_come_back_once_each) {
  endpoint_.set_tag(99);
  barrier();
  std::uint64_t sum = 0;
  std::vector<int> seen(1'000, 0);
  endpoint_.on_returned([&](const Returned& r) {
    std::uint64_t n;
    std::memcpy(&n, r.arguments.data(), sizeof n);
    ++seen.at(n);
    ++sum;
  });
  for (std::uint64_t i = 0; i < seen.size(); ++i) {
    if (random_() % 2 == 0) {
      endpoint_.request<&on_short>(right(), i);
    } else {
      endpoint_.request<&on_short_one>(right(), i);
    }
  }
  bundle().wait_until([&] { return sum == seen.size(); });
  EXPECT_EQ(seen, std::vector<int>(1'000, 1));
  expect_settled();
  EXPECT_EQ(endpoint_.stats().returned_here, 1'000u);
}

// Who is returned and does not poll is refused further credit, and nothing grows anywhere; others
// are not delayed.
TEST_F(ReturnedMessages, to_a_sender_that_does_not_poll_take_no_room_but_its_window) {
  Bundle of_receiver(job()), of_others(job());
  Endpoint receiver(of_receiver), other(of_others);
  for (Endpoint* endpoint : {&receiver, &other}) endpoint->set_tag(1);
  other.add_handlers<&on_short_one>();
  int others_back = 0;
  other.on_returned([&](const Returned&) { ++others_back; });
  const std::uint32_t to = endpoint_.map_any(receiver.name(), 1);
  other.map(0, receiver.name(), 1);
  std::uint64_t sent = 0;
  for (int i = 0; i < 1'000; ++i) {
    sent += endpoint_.try_request_medium<&on_medium_one>(to, Bytes(payload_), 1u, 2.0);
    sent += endpoint_.try_request<&on_short_one>(to, 1u);
    of_receiver.poll();
  }
  EXPECT_EQ(sent, 16u + 64u);
  EXPECT_TRUE(other.try_request<&on_short_one>(0, 1u));
  of_receiver.wait_until([&] {
    of_others.poll();
    return others_back == 1;
  });
  EXPECT_TRUE(back_.empty());
  bundle().poll();
  EXPECT_EQ(back_.size(), sent);
  EXPECT_TRUE(endpoint_.try_request<&on_short_one>(to, 1u));
  of_receiver.poll();
  bundle().poll();
  EXPECT_EQ(back_.size(), sent + 1);
  back_.clear();
}

// A sender that has sent the last one looks for nothing any more: the returned one wakes it.
TEST_F(ReturnedMessages, wake_a_sender_that_sleeps) {
  endpoint_.set_tag(99);
  barrier();
  for (int i = 0; i < 20; ++i) {
    endpoint_.request<&on_short_one>(right(), 1u);
    while (back_.empty()) {
      EXPECT_TRUE(bundle().wait(Events::kNotEmpty));
      bundle().poll();
    }
    next_back(Status::kBadTag, Role::kOneWay, Kind::kShort);
  }
}

// Translations come and go: the way back takes nothing that is not given back.
TEST_F(ReturnedMessages, come_back_through_any_number_of_translations) {
  if (job().router().far_peers()) GTEST_SKIP() << "each takes a round trip over the network";
  const Name name = endpoint_.translation_name(right());
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t to = endpoint_.map_any(name, 77);
    endpoint_.request<&on_short_one>(to, 1u);
    next_back(Status::kBadTag, Role::kOneWay, Kind::kShort);
    endpoint_.unmap(to);
  }
  expect_settled();
}

TEST_F(ReturnedMessages, may_throw_out_of_poll_and_lose_no_credit) {
  endpoint_.set_tag(99);
  barrier();
  int thrown = 0;
  endpoint_.on_returned([](const Returned& r) { throw static_cast<int>(r.kind); });
  const auto poll_until = [&](int goal) {
    while (thrown < goal) {
      try {
        bundle().wait_until([&] { return thrown >= goal; });
      } catch (const int kind) {
        EXPECT_EQ(kind, static_cast<int>(Kind::kShort));
        ++thrown;
      }
    }
  };
  for (int i = 1; i <= 200; ++i) {
    endpoint_.request<&on_short>(right(), 1u);
    poll_until(2 * i - 1);
    endpoint_.request<&on_short_one>(right(), 1u);
    poll_until(2 * i);
  }
  endpoint_.on_returned([](const Returned&) { ADD_FAILURE() << "one more came back"; });
  expect_settled();
}

}  // namespace returned_test
}  // namespace am
