// A hash table that several threads of each process fill counts every key.

#include <gtest/gtest.h>

#include "tests/examples/example.h"

namespace examples::test::table {
namespace {

class Table : public ::testing::TestWithParam<Shape> {};

TEST_P(Table, counts_what_all_threads_have_drawn) {
  for (const char* const threads : {"1", "3"}) {
    const auto result =
        run(GetParam(), "table", {"--threads", threads, "--keys", "200", "--different", "60"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(": counted right\n"), std::string::npos) << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, Table, ::testing::Values(Shape{1}, Shape{3}));
INSTANTIATE_TEST_SUITE_P(Nodes, Table, ::testing::Values(Shape{2, 2}, Shape{4, 2}));

TEST(Table, no_threads_are_refused) { expect_refused("table", {"--threads", "0"}, "--threads"); }

}  // namespace
}  // namespace examples::test::table
