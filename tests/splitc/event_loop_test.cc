// Processes that sleep in a loop of their own, on splitc::event_fd() alone.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace event_loop_test {

using ::test::right;

// What is lost leaves this asleep for ever.
template <class Condition>
void sleep_until(const Condition& condition) {
  pollfd watched{.fd = event_fd(), .events = POLLIN, .revents = 0};
  while (!condition()) {
    if (arm()) {
      EXPECT_EQ(::poll(&watched, 1, -1), 1);
    }
    poll();
  }
}

TEST(EventLoop, is_woken_by_remote_calls_and_their_results) {
  dist_object<std::uint64_t> calls(0);
  barrier();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    bool done = false;
    auto ask = [&]() -> task<void> {
      sum += co_await rpc(
          right(), [](std::uint64_t& its, std::uint64_t n) { return ++its, 2 * n; }, calls, i);
      done = true;
    };
    task<void> asking = ask();
    sleep_until([&] { return done; });
    asking.wait();
  }
  EXPECT_EQ(sum, 100u * 101);
  sleep_until([&] { return *calls == 100; });
  barrier();
}

TEST(EventLoop, is_woken_by_stores_and_puts_on_channels) {
  spread_array<std::uint64_t> ghost(procs());
  const std::uint64_t edge = 5 + my_proc();
  put_channel<std::uint64_t> halo(&ghost[right()], std::span(&edge, 1));
  barrier();
  halo.put();
  const std::uint64_t expected = 5 + (my_proc() + procs() - 1) % procs();
  const std::atomic_ref mine(ghost.mine()[0]);
  sleep_until([&] { return mine.load(std::memory_order_relaxed) == expected; });
  halo.wait();
  EXPECT_EQ(ghost.mine()[0], expected);
  barrier();
}

TEST(EventLoop, is_refused_in_a_handler) {
  if (procs() == 1) GTEST_SKIP() << "a call of the own process is no message";
  const std::string said =
      rpc(right(), [] { return ::test::error_of([] { static_cast<void>(arm()); }); }).result();
  EXPECT_NE(said.find("a handler may not wait"), std::string::npos) << said;
  barrier();
}

}  // namespace event_loop_test
}  // namespace splitc
