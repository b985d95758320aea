// Endpoints that end: what they sent is handled, what was sent to them comes back, once, and nobody
// waits for ever.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace gone_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using Bytes = std::span<const std::byte>;

constexpr Tag kTag = 5;
constexpr std::size_t kBig = 10'000;  // more than a packet holds

std::uint64_t handled = 0;
std::uint64_t answers = 0;

void on_answer(Reply, std::uint64_t) { ++answers; }
void on_short(Request r, std::uint64_t n) {
  ++handled;
  std::move(r).reply<&on_answer>(n);
}
void on_short_one(OneWay, std::uint64_t) { ++handled; }
void on_medium(Request, Bytes, std::uint64_t) { ++handled; }
void on_medium_one(OneWay, Bytes, std::uint64_t) { ++handled; }
void on_long(Request, std::span<std::byte>, std::uint64_t) { ++handled; }
void on_long_one(OneWay, std::span<std::byte>, std::uint64_t) { ++handled; }

// Each process has an endpoint, and one more, which ends, for the process to its left.
class EndpointsThatEnd : public testing::Test {
 protected:
  void SetUp() override {
    add_handlers(endpoint_);
    job().connect(endpoint_, kTag);
    endpoint_.on_returned([this](const Returned& r) {
      EXPECT_EQ(r.status, Status::kBadEndpoint);
      EXPECT_EQ(r.destination, right());
      std::uint64_t n;
      std::memcpy(&n, r.arguments.data(), sizeof n);
      if (n >= back_.size()) back_.resize(n + 1);
      ++back_[n];
      ++returned_;
      if (r.kind == Kind::kMedium) {
        EXPECT_EQ(r.payload.size(), 7u);
        EXPECT_EQ(r.payload[6], std::byte{6});
      }
      if (r.kind == Kind::kLong) {
        EXPECT_EQ(r.segment_offset, 64u);
      }
    });
    for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::byte>(i);
    handled = answers = 0;
    make_target(bundle());
  }
  void TearDown() override { barrier(); }

  static void add_handlers(Endpoint& endpoint) {
    endpoint.add_handlers<&on_answer, &on_short, &on_short_one, &on_medium, &on_medium_one,
                          &on_long, &on_long_one>();
  }
  void make_target(Bundle& in) {
    target_ = std::make_unique<Endpoint>(in);
    add_handlers(*target_);
    target_->set_tag(kTag);
    name_ = job().exchange(target_->name())[right()];
    to_ = endpoint_.map_any(name_, kTag);
  }

  Rank right() const { return (job().rank() + 1) % job().size(); }
  Rank left() const { return (job().rank() + job().size() - 1) % job().size(); }

  // One message of a kind and role that `n` chooses, with n as its argument; by try_request.
  bool try_send(std::uint64_t n) {
    const Bytes few = Bytes(payload_).first(7);
    const Bytes many = Bytes(payload_).first(n % 12 < 6 ? 7 : kBig);
    switch (n % 6) {
      case 0: return endpoint_.try_request<&on_short>(to_, n);
      case 1: return endpoint_.try_request<&on_short_one>(to_, n);
      case 2: return endpoint_.try_request_medium<&on_medium>(to_, few, n);
      case 3: return endpoint_.try_request_medium<&on_medium_one>(to_, few, n);
      case 4: return endpoint_.try_request_long<&on_long>(to_, 64, many, n);
      default: return endpoint_.try_request_long<&on_long_one>(to_, 64, many, n);
    }
  }
  void send(std::uint64_t n) {
    bundle().wait_until([&] { return try_send(n); });
  }
  bool nothing_in_flight() const {
    return endpoint_.in_flight(to_, Kind::kShort) == 0 &&
           endpoint_.in_flight(to_, Kind::kMedium) == 0 &&
           endpoint_.in_flight(to_, Kind::kLong) == 0;
  }

  std::array<std::byte, kBig> payload_;
  std::vector<int> back_;  // how often each came back
  std::uint64_t returned_ = 0;
  Endpoint endpoint_{bundle()};
  Bundle idle_{job()};  // is polled by hand only
  std::unique_ptr<Endpoint> target_;
  Name name_{};
  std::uint32_t to_ = 0;
};

TEST_F(EndpointsThatEnd, before_anybody_has_sent_to_them_return_everything) {
  target_.reset();
  barrier();
  for (std::uint64_t n = 0; n < 120; ++n) send(n);
  bundle().wait_until([this] { return returned_ == 120; });
  EXPECT_EQ(back_, std::vector<int>(120, 1));
  EXPECT_TRUE(nothing_in_flight());
  endpoint_.unmap(to_);
  EXPECT_EQ(returned_, 120u);
}

TEST_F(EndpointsThatEnd, after_a_conversation_return_everything) {
  for (std::uint64_t n = 0; n < 60; ++n) send(n);
  bundle().wait_until([] { return handled == 60 && answers == 10; });
  barrier();
  target_.reset();
  barrier();
  for (std::uint64_t n = 60; n < 180; ++n) send(n);
  bundle().wait_until([this] { return returned_ == 120; });
  endpoint_.unmap(to_);
  EXPECT_EQ(std::accumulate(back_.begin(), back_.end(), 0), 120);
  EXPECT_EQ(handled, 60u);
}

TEST_F(EndpointsThatEnd, can_be_unmapped) {
  const std::uint32_t unused = endpoint_.map_any(name_, kTag);
  const std::uint32_t asked = endpoint_.map_any(name_, kTag);
  endpoint_.request<&on_short>(asked, 1ull);
  for (std::uint64_t n = 0; n < 12; ++n) send(n);
  bundle().wait_until([] { return handled == 13 && answers == 3; });
  barrier();
  target_.reset();
  barrier();
  endpoint_.unmap(unused);
  endpoint_.unmap(asked);
  for (std::uint64_t n = 12; n < 24; ++n) send(n);
  endpoint_.unmap(to_);  // waits for what is in flight
  EXPECT_EQ(returned_, 12u);
  to_ = endpoint_.map_any(name_, kTag);
  endpoint_.request_long<&on_long_one>(to_, 64, payload_, 24ull);
  endpoint_.unmap(to_);
  EXPECT_EQ(returned_, 13u);
}

// What a bundle holds that is polled three times only is handled in part; the rest comes back. A
// barrier that waits polls it as well, so what was handled is known when the endpoint has ended.
TEST_F(EndpointsThatEnd, return_what_they_have_not_handled) {
  endpoint_.unmap(to_);
  make_target(idle_);
  std::uint64_t sent = 0;
  for (std::uint64_t n = 0; n < 90; ++n) sent += try_send(n);
  barrier();
  for (int i = 0; i < 3; ++i) idle_.poll();  // in a job of several nodes this handles others' too
  const std::uint64_t of_left = job().exchange(sent)[left()];
  barrier();
  target_.reset();
  const std::uint64_t done = handled;
  EXPECT_LE(done, of_left);
  const std::uint64_t done_there = job().exchange(done)[right()];
  bundle().wait_until([&] { return returned_ == sent - done_there; });
  endpoint_.unmap(to_);
  EXPECT_EQ(returned_, sent - done_there);
  EXPECT_EQ(handled, done);
  for (const int times : back_) EXPECT_LE(times, 1);
}

TEST_F(EndpointsThatEnd, amid_a_flood_account_for_every_message) {
  const int rounds = job().router().far_peers() ? 10 : 100;
  std::mt19937_64 random(::test::seed() + job().rank());
  for (int round = 0; round < rounds; ++round) {
    endpoint_.unmap(to_);
    make_target(bundle());
    handled = returned_ = 0;
    back_.clear();
    const std::uint64_t end_at = random() % 300;
    for (std::uint64_t n = 0; n < 300; ++n) {
      if (n == end_at) target_.reset();
      send(n);
    }
    endpoint_.unmap(to_);
    barrier();
    ASSERT_EQ(job().exchange(handled)[right()] + returned_, 300u);
    for (const int times : back_) ASSERT_LE(times, 1);
    to_ = endpoint_.map_any(name_, kTag);
  }
}

// --- What they have sent themselves

// The client ends at once; the server, here as well, handles everything.
TEST_F(EndpointsThatEnd, leave_what_they_have_sent) {
  std::uint64_t returned_replies = 0;
  target_->on_returned([&](const Returned& r) {
    EXPECT_EQ(r.role, Role::kReply);
    EXPECT_EQ(r.status, Status::kBadEndpoint);
    EXPECT_EQ(r.destination, left());
    ++returned_replies;
  });
  for (int round = 0; round < 5; ++round) {
    Endpoint client(bundle());
    add_handlers(client);
    client.set_tag(kTag);
    client.map(0, name_, kTag);
    for (std::uint64_t n = 0; n < 10; ++n) {
      client.request<&on_short>(0, n);
      client.request<&on_short_one>(0, n);
      client.request_medium<&on_medium_one>(0, Bytes(payload_).first(100), n);
    }
    client.request_long<&on_long_one>(0, 64, payload_, 1ull);
  }
  bundle().wait_until([] { return handled == 5 * 31; });
  // Every reply was read by its client, or has come back.
  const std::uint64_t answered = answers;
  const std::uint64_t answered_there = job().exchange(answered)[left()];
  bundle().wait_until([&] { return returned_replies == 50 - answered_there; });
  barrier();
  EXPECT_EQ(handled, 5u * 31);
}

TEST_F(EndpointsThatEnd, make_room_for_any_number_that_come_after_them) {
  const int clients = job().router().far_peers() ? 50 : 500;
  target_->on_returned([](const Returned&) {});  // replies to those that did not wait
  for (int i = 0; i < clients; ++i) {
    Endpoint client(bundle(), {.translations = 1});
    add_handlers(client);
    client.set_tag(kTag);
    client.map(0, name_, kTag);
    const std::uint64_t before = answers;
    client.request<&on_short>(0, 1ull);
    if (i % 2 == 0) bundle().wait_until([&] { return answers == before + 1; });
  }
  bundle().wait_until([&] { return handled == static_cast<std::uint64_t>(clients); });
  barrier();
}

TEST_F(EndpointsThatEnd, are_not_looked_for_when_their_messages_cannot_be_delivered) {
  target_->set_tag(kTag + 1);
  barrier();
  for (int i = 0; i < 20; ++i) {
    Endpoint client(bundle());
    add_handlers(client);
    client.set_tag(kTag);
    client.map(0, name_, kTag);
    client.on_returned([](const Returned&) {});
    client.request<&on_short_one>(0, 1ull);
    client.request<&on_short>(0, 1ull);
  }
  const auto refused = [this] { return target_->stats().returned_by_us; };
  bundle().wait_until([&] { return refused() == 40; });
  barrier();
  EXPECT_EQ(handled, 0u);
}

}  // namespace gone_test
}  // namespace am
