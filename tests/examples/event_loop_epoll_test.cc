// A server in an event loop: every question of its client is answered, and rightly.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/examples/example.h"

namespace examples::test::event_loop_epoll {
namespace {

class EventLoopEpoll : public ::testing::TestWithParam<Shape> {};

TEST_P(EventLoopEpoll, answers_all_questions) {
  std::uint64_t sum = 0;  // of the divisors of 1 to 1000: each i divides every i-th number
  for (std::uint64_t i = 1; i <= 1000; ++i) sum += 1000 / i;
  const auto result = run(GetParam(), "event_loop_epoll");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "1000 questions were answered; all answers together: " + std::to_string(sum) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Processes, EventLoopEpoll,
                         ::testing::Values(Shape{1}, Shape{2}, Shape{5}));
INSTANTIATE_TEST_SUITE_P(Nodes, EventLoopEpoll, ::testing::ValuesIn(shapes_across_nodes()));

}  // namespace
}  // namespace examples::test::event_loop_epoll
