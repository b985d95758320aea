// Waiting: for events, for conditions that handlers make true, and for memory that others write.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "tests/support/job_main.h"

namespace am {
namespace wait_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::int64_t kMillisecond = 1'000'000;

std::uint64_t token = 0;
void on_token(OneWay, std::uint64_t n) { token = n; }
std::uint64_t answers = 0;
void on_answer(Reply) { ++answers; }
void on_question(Request r) { std::move(r).reply<&on_answer>(); }

class Wait : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_token, &on_answer, &on_question>();
    job().connect(endpoint_);
    token = answers = 0;
    word(me()).store(0);
    barrier();
    job().exchange(0);  // nobody polls any more
  }
  void TearDown() override { barrier(); }

  Rank me() const { return job().rank(); }
  Rank right() const { return (me() + 1) % job().size(); }
  // Each turn of the token takes a turn of the scheduler where processes only spin for it.
  std::uint64_t laps() const {
    const Router::Options& options = job().router().options();
    return options.wait == WaitPolicy::kSpin && options.oversubscribed ? 3 : 200;
  }
  // The first word of a process's segment.
  static std::atomic_ref<std::uint64_t> word(Rank rank) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(job().router().peer(rank).segment));
  }
  // Sends a token around all processes; `await(n)` returns when this one has number n.
  template <class Pass, class Await>
  void pass_around(std::uint64_t rounds, Pass&& pass, Await&& await) {
    for (std::uint64_t lap = 1; lap <= rounds; ++lap) {
      if (me() != 0) await(lap);
      pass(lap + (right() == 0));  // the first is one lap ahead
      if (me() == 0) await(lap + 1);
    }
  }

  Endpoint endpoint_{bundle()};
};

TEST_F(Wait, ends_at_once_when_a_message_is_there) {
  endpoint_.request<&on_token>(me(), 7u);
  EXPECT_TRUE(bundle().wait(Events::kNotEmpty));
  EXPECT_TRUE(bundle().wait(Events::kNotEmpty, 0));
  EXPECT_TRUE(bundle().wait(Events::kNotEmpty, kMillisecond));
  EXPECT_EQ(token, 0u) << "wait() runs no handler";
  bundle().wait_until([] { return token == 7; });
}

TEST_F(Wait, ends_with_its_time_when_nothing_comes) {
  EXPECT_FALSE(bundle().wait(Events::kNotEmpty, 0));
  EXPECT_FALSE(bundle().wait(Events::kNotEmpty, 1));
  EXPECT_FALSE(bundle().wait(Events::kNotEmpty, 5 * kMillisecond));
}

TEST_F(Wait, sees_replies_too) {
  endpoint_.request<&on_question>(right());
  bundle().wait_until([&] { return endpoint_.stats()[Kind::kShort].requests_received == 1; });
  while (answers == 0) {
    EXPECT_TRUE(bundle().wait(Events::kNotEmpty));
    bundle().poll();
  }
}

TEST_F(Wait, wakes_for_a_message_of_another_process) {
  pass_around(
      laps(), [&](std::uint64_t n) { endpoint_.request<&on_token>(right(), n); },
      [&](std::uint64_t n) {
        while (token != n) {
          EXPECT_TRUE(bundle().wait(Events::kNotEmpty));
          bundle().poll();
        }
      });
}

TEST_F(Wait, until_a_handler_has_run) {
  pass_around(
      laps(), [&](std::uint64_t n) { endpoint_.request<&on_token>(right(), n); },
      [&](std::uint64_t n) { bundle().wait_until([n] { return token == n; }); });
}

TEST_F(Wait, until_another_process_has_written_and_rung) {
  if (job().router().far_peers()) GTEST_SKIP() << "for processes of one node";
  pass_around(
      laps(),
      [&](std::uint64_t n) {
        // pairs with: the wait just below
        word(right()).store(n, std::memory_order_release);
        job().router().notify(right());
      },
      [&](std::uint64_t n) {
        // pairs with: the store just above
        bundle().wait_until([&] { return word(me()).load(std::memory_order_acquire) == n; });
      });
}

TEST_F(Wait, until_another_process_has_written_without_a_ring) {
  if (job().router().far_peers()) GTEST_SKIP() << "for processes of one node";
  pass_around(
      std::min<std::uint64_t>(laps(), 20),
      // pairs with: the wait just below
      [&](std::uint64_t n) { word(right()).store(n, std::memory_order_release); },
      [&](std::uint64_t n) {
        // pairs with: the store just above
        bundle().wait_until([&] { return word(me()).load(std::memory_order_acquire) == n; },
                            Wake::kMemory);
      });
}

TEST_F(Wait, until_serves_requests_meanwhile) {
  for (std::uint64_t i = 1; i <= laps(); ++i) {
    endpoint_.request<&on_question>(right());
    bundle().wait_until([i] { return answers == i; });
  }
}

TEST_F(Wait, until_looks_first_and_not_again_after_it_was_true) {
  endpoint_.request<&on_token>(me(), 9u);
  int looks = 0;
  bundle().wait_until([&] { return ++looks == 1; });
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(token, 0u);
  bundle().wait_until([&] { return ++looks >= 3 && token == 9; });
}

}  // namespace wait_test
}  // namespace am
