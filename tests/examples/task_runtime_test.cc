// A runtime on Active Messages performs each task once, wherever it is stolen, and comes to an end.

#include <gtest/gtest.h>

#include "tests/examples/example.h"

namespace examples::test::task_runtime {
namespace {

class TaskRuntime : public ::testing::TestWithParam<Shape> {};

TEST_P(TaskRuntime, finds_every_solution_once) {
  const auto result = run(GetParam(), "task_runtime", {"9"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "9 queens stand in 352 ways\n");
}

INSTANTIATE_TEST_SUITE_P(Processes, TaskRuntime, ::testing::Values(Shape{1}, Shape{2}, Shape{5}));
INSTANTIATE_TEST_SUITE_P(Nodes, TaskRuntime, ::testing::Values(Shape{2, 2}, Shape{5, 3}));

TEST(TaskRuntime, a_wrong_number_is_refused) {
  const auto result = run(2, "task_runtime", {"17"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("from 1 to 16"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace examples::test::task_runtime
