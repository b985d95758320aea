// Credits: how many requests may be in flight, when they come back, and that none is ever lost.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"
#include "tests/support/window.h"

namespace am {
namespace credits_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::meet_silently;
using ::test::window;
using Bytes = std::span<const std::byte>;

constexpr std::array<Kind, 3> kAllKinds = {Kind::kShort, Kind::kMedium, Kind::kLong};

std::uint64_t handled = 0;  // requests of both roles
std::uint64_t one_way_handled = 0;
std::uint64_t answered = 0;

void on_answer(Reply) { ++answered; }
void on_answer_medium(Reply, std::span<const std::byte>, std::uint32_t) { ++answered; }
void on_answer_long(Reply, std::span<std::byte>, double) { ++answered; }

// Answers in a way that depends on `how`: 0 not at all.
void answer(Request&& request, std::uint32_t how) {
  static const std::array<std::byte, 4096> kBytes{};
  const Bytes bytes(kBytes.data(), how % 4097);
  switch (how % 4) {
    case 0: return;
    case 1: return std::move(request).reply<&on_answer>();
    case 2: return std::move(request).reply_medium<&on_answer_medium>(bytes, how);
    case 3: return std::move(request).reply_long<&on_answer_long>(0, bytes, 1.5);
  }
}

void on_short(Request request, std::uint32_t how) {
  ++handled;
  answer(std::move(request), how);
}
void on_medium(Request request, std::span<const std::byte>, std::uint32_t how) {
  ++handled;
  answer(std::move(request), how);
}
void on_long(Request request, std::span<std::byte>, std::uint32_t how) {
  ++handled;
  answer(std::move(request), how);
}
void take_one_way() {
  ++handled;
  ++one_way_handled;
}
void on_short_one(OneWay) { take_one_way(); }
void on_medium_one(OneWay, std::span<const std::byte>) { take_one_way(); }
void on_long_one(OneWay, std::span<std::byte>) { take_one_way(); }

class Credits : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_answer, &on_answer_medium, &on_answer_long, &on_short, &on_medium,
                           &on_long, &on_short_one, &on_medium_one, &on_long_one>();
    job().connect(endpoint_);
    handled = one_way_handled = answered = 0;
  }
  void TearDown() override { barrier(); }

  Rank right() const { return (job().rank() + 1) % job().size(); }

  bool try_send(Rank to, Kind kind, Role role, std::uint32_t how = 0, Bytes bytes = {}) {
    const bool one = role == Role::kOneWay;
    switch (kind) {
      case Kind::kShort:
        return one ? endpoint_.try_request<&on_short_one>(to)
                   : endpoint_.try_request<&on_short>(to, how);
      case Kind::kMedium:
        return one ? endpoint_.try_request_medium<&on_medium_one>(to, bytes)
                   : endpoint_.try_request_medium<&on_medium>(to, bytes, how);
      default:
        return one ? endpoint_.try_request_long<&on_long_one>(to, 0, bytes)
                   : endpoint_.try_request_long<&on_long>(to, 0, bytes, how);
    }
  }
  // How many are admitted without anybody polling.
  std::uint32_t send_all_possible(Rank to, Kind kind, Role role) {
    std::uint32_t sent = 0;
    while (sent < 5000 && try_send(to, kind, role)) ++sent;
    return sent;
  }
  // As the sender, after everything has been read: a last request in each lane brings all back.
  void settle() {
    for (Rank to = 0; to < job().size(); ++to) {
      for (const Kind kind : kAllKinds) {
        bundle().wait_until([&] { return try_send(to, kind, Role::kRequest); });
      }
    }
    bundle().wait_until([&] { return nothing_in_flight(); });
  }
  bool nothing_in_flight() const {
    for (Rank to = 0; to < job().size(); ++to) {
      for (const Kind kind : kAllKinds) {
        if (endpoint_.in_flight(to, kind) != 0) return false;
      }
    }
    return true;
  }

  Endpoint endpoint_{bundle()};
};

TEST_F(Credits, one_way_requests_that_were_reported_as_read_are_in_flight_no_more) {
  for (const Kind kind : kAllKinds) {
    settle();
    barrier();
    meet_silently();
    EXPECT_EQ(send_all_possible(right(), kind, Role::kOneWay), window(right(), kind));
    meet_silently();
    bundle().wait_until([&] { return endpoint_.in_flight(right(), kind) == 0; });
    barrier();
  }
}

TEST_F(Credits, exactly_the_window_is_admitted_while_nobody_polls) {
  for (const Role role : {Role::kRequest, Role::kOneWay}) {
    for (const Kind kind : kAllKinds) {
      settle();
      barrier();
      meet_silently();
      EXPECT_EQ(send_all_possible(right(), kind, role), window(right(), kind));
      EXPECT_EQ(endpoint_.in_flight(right(), kind), window(right(), kind));
      for (const Kind other : kAllKinds) {  // the other kinds have credits of their own
        EXPECT_TRUE(other == kind || try_send(right(), other, role));
      }
      meet_silently();
    }
  }
  settle();
}

TEST_F(Credits, to_different_endpoints_are_independent) {
  for (Rank to = 0; to < job().size(); ++to) {
    EXPECT_EQ(send_all_possible(to, Kind::kMedium, Role::kRequest), window(to, Kind::kMedium));
    EXPECT_TRUE(to + 1 == job().size() || try_send(to + 1, Kind::kMedium, Role::kRequest));
    bundle().wait_until([&] { return nothing_in_flight(); });
    barrier();
  }
}

TEST_F(Credits, of_requests_come_back_with_their_replies) {
  for (const Kind kind : kAllKinds) {
    for (std::uint32_t how = 0; how < 4; ++how) {
      EXPECT_TRUE(try_send(right(), kind, Role::kRequest, how));
    }
  }
  EXPECT_EQ(endpoint_.in_flight(right(), Kind::kShort), 4u);
  EXPECT_EQ(endpoint_.in_flight(right(), Kind::kMedium), 4u);
  EXPECT_EQ(endpoint_.in_flight(right(), Kind::kLong), 4u);
  bundle().wait_until([&] { return nothing_in_flight(); });
  EXPECT_EQ(answered, 9u);
}

// To oneself, so that it is known exactly what has been read.
TEST_F(Credits, of_one_way_requests_come_back_a_quarter_window_at_a_time) {
  const Rank me = job().rank();
  for (const Kind kind : kAllKinds) {
    const std::uint32_t all = window(me, kind), quarter = all / 4;
    const auto send_and_read = [&](std::uint32_t count) {
      const std::uint64_t goal = one_way_handled + count;
      for (std::uint32_t i = 0; i < count; ++i) ASSERT_TRUE(try_send(me, kind, Role::kOneWay));
      bundle().wait_until([&] { return one_way_handled == goal; });
    };
    const std::uint64_t before = one_way_handled;
    send_and_read(quarter - 1);  // one less than is reported
    EXPECT_EQ(send_all_possible(me, kind, Role::kOneWay), all - (quarter - 1));
    bundle().wait_until([&] { return one_way_handled == before + all; });
    EXPECT_EQ(send_all_possible(me, kind, Role::kOneWay), all);
    bundle().wait_until([&] { return one_way_handled == before + 2 * all; });
    send_and_read(quarter);
    EXPECT_EQ(send_all_possible(me, kind, Role::kOneWay), all);
    bundle().wait_until([&] { return one_way_handled == before + 3 * all + quarter; });
    settle();
    EXPECT_TRUE(nothing_in_flight());
  }
}

TEST_F(Credits, a_request_without_credit_waits_until_the_receiver_polls) {
  auto* const polled = reinterpret_cast<std::uint64_t*>(endpoint_.segment().data());
  std::atomic_ref(*polled).store(0);
  barrier();
  meet_silently();
  if (job().rank() == 0) {
    const Rank last = job().size() - 1;
    for (std::uint32_t i = 0; i < window(last, Kind::kShort); ++i) {
      endpoint_.request<&on_short>(last, 0u);
    }
    endpoint_.request<&on_short>(last, 0u);
    if (last != 0 && job().router().is_near(last)) {
      auto* const theirs = reinterpret_cast<std::uint64_t*>(job().router().peer(last).segment);
      EXPECT_EQ(std::atomic_ref(*theirs).load(), 1u) << "it went before a poll";
    }
    EXPECT_EQ(endpoint_.stats().credit_stalls, 1u);
  } else if (job().rank() == job().size() - 1) {
    EXPECT_TRUE(bundle().wait(Events::kNotEmpty));
    EXPECT_EQ(handled, 0u) << "wait() runs no handler";
    std::atomic_ref(*polled).store(1);
  }
  barrier();
  bundle().wait_until([&] { return nothing_in_flight(); });
}

TEST_F(Credits, a_large_request_to_another_node_that_waits_for_its_introduction_is_counted) {
  const std::vector<std::byte> payload(8192);
  const Rank last = job().size() - 1;
  if (job().rank() == 0 && !job().router().is_near(last)) {
    endpoint_.request_long<&on_long_one>(last, 0, payload);
    EXPECT_EQ(endpoint_.stats().credit_stalls, 1u);
    endpoint_.flush();
  }
}

TEST_F(Credits, requests_beyond_the_window_all_arrive) {
  constexpr std::uint64_t kEach = 1'000;
  for (std::uint64_t i = 0; i < kEach; ++i) {
    endpoint_.request<&on_short>(right(), static_cast<std::uint32_t>(i));
    endpoint_.request<&on_short_one>(right());
    if (i % 4 == 0) endpoint_.request_medium<&on_medium>(right(), {}, 0u);
    if (i % 4 == 1) endpoint_.request_long<&on_long_one>(right(), 0, {});
  }
  // Also for the answers, which three of four short requests have: one that came behind the barrier
  // would find the endpoint of the next case.
  bundle().wait_until(
      [&] { return handled == 2 * kEach + kEach / 2 && answered == kEach / 4 * 3; });
  barrier();
}

// --- Random traffic

struct Sums {
  std::uint64_t requests_sent, requests_received, one_way_sent, one_way_received;
  std::uint64_t replies_sent, replies_received, returned;

  static Sums of(const Stats& stats, Kind kind) {
    const Stats::Category& c = stats[kind];
    return {c.requests_sent,
            c.requests_received,
            c.one_way_sent,
            c.one_way_received,
            c.replies_sent,
            c.replies_received,
            stats.returned_here + stats.returned_by_us};
  }
  void add(const Sums& other) {
    requests_sent += other.requests_sent;
    requests_received += other.requests_received;
    one_way_sent += other.one_way_sent;
    one_way_received += other.one_way_received;
    replies_sent += other.replies_sent;
    replies_received += other.replies_received;
    returned += other.returned;
  }
};

class RandomTraffic : public Credits {
 protected:
  void run(int messages) {
    std::mt19937_64 random(::test::seed() + job().rank());
    const std::vector<std::byte> payload(4096);
    for (int i = 0; i < messages; ++i) {
      const auto to = static_cast<Rank>(random() % job().size());
      const Kind kind = kAllKinds[random() % 3];
      const Role role = random() % 2 == 0 ? Role::kRequest : Role::kOneWay;
      const auto how = static_cast<std::uint32_t>(random());
      const Bytes bytes = Bytes(payload).first(random() % 4097);
      const auto attempt = [&] { return try_send(to, kind, role, how, bytes); };
      if (!attempt()) bundle().wait_until(attempt);
      if (random() % 100 == 0) bundle().poll();
      ASSERT_LE(endpoint_.in_flight(to, kind), window(to, kind));
    }
  }
  // What all processes did together must agree. Collective.
  void expect_balanced() {
    for (const Kind kind : kAllKinds) {
      Sums all{};
      for (const Sums& sums : job().exchange(Sums::of(endpoint_.stats(), kind))) all.add(sums);
      EXPECT_EQ(all.requests_sent, all.requests_received);
      EXPECT_EQ(all.one_way_sent, all.one_way_received);
      EXPECT_GT(all.one_way_sent, 0u);
      EXPECT_EQ(all.replies_sent, all.replies_received);
      EXPECT_GT(all.replies_sent, 0u);
      EXPECT_EQ(all.returned, 0u);
    }
  }
};

TEST_F(RandomTraffic, returns_every_credit) {
  for (int round = 0; round < 5; ++round) {
    run(1'000);
    settle();
    EXPECT_TRUE(nothing_in_flight());
    barrier();
    meet_silently();
    for (Rank to = 0; to < job().size(); ++to) {  // all of them can be used again
      EXPECT_EQ(send_all_possible(to, Kind::kShort, Role::kRequest), window(to, Kind::kShort));
      EXPECT_EQ(send_all_possible(to, Kind::kMedium, Role::kOneWay), window(to, Kind::kMedium));
      EXPECT_EQ(send_all_possible(to, Kind::kLong, Role::kRequest), window(to, Kind::kLong));
    }
    meet_silently();
    settle();
    barrier();
  }
  expect_balanced();
}

TEST_F(RandomTraffic, has_been_handled_when_unmap_returns) {
  run(2'000);
  for (Rank to = 0; to < job().size(); ++to) {
    endpoint_.unmap(to);
    EXPECT_EQ(endpoint_.in_flight(to, Kind::kShort), 0u);
    EXPECT_EQ(endpoint_.in_flight(to, Kind::kMedium), 0u);
    EXPECT_EQ(endpoint_.in_flight(to, Kind::kLong), 0u);
  }
  barrier();
  expect_balanced();
  std::uint64_t all_handled = 0;
  for (const std::uint64_t n : job().exchange(handled)) all_handled += n;
  EXPECT_EQ(all_handled, 2'000u * job().size());
}

}  // namespace credits_test
}  // namespace am
