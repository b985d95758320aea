// heat_rod, put channels in C: the program itself compares with what one process computes.

#include <gtest/gtest.h>

#include <string>

#include "tests/examples/example.h"

namespace examples::test::heat_rod {
namespace {

class RodOfC : public ::testing::TestWithParam<Shape> {};

TEST_P(RodOfC, spreads_as_one_process_computes_it) {
  const auto result = run(GetParam(), "heat_rod");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, std::to_string(10 * GetParam().procs) +
                            " cells, 200 steps: as one process computes them\n");
  EXPECT_EQ(result.err, "");
}

INSTANTIATE_TEST_SUITE_P(Processes, RodOfC,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{4, 2, kFewLost}, Shape{2},
                                           Shape{8}, Shape{5, 3}, Shape{5, 3, kDatagrams}));

}  // namespace
}  // namespace examples::test::heat_rod
