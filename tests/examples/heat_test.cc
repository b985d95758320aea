// Heat on a plate: what the grid of all processes gives is what one process computes alone, and the
// same however the plate is cut.

#include <gtest/gtest.h>

#include <regex>

#include "tests/examples/example.h"

namespace examples::test::heat {
namespace {

using am::test::lines_of;

class Heat : public ::testing::TestWithParam<Shape> {};

TEST_P(Heat, is_the_bits_that_one_process_computes) {
  const auto result = run(GetParam(), "heat", {"--size", "37", "--steps", "60", "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 2u) << result.out;
  const std::regex form(R"(37 x 37 cells on \d+ x \d+ processes: \d+\.\d us a step, heat (\S+))");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(lines[0], match, form)) << lines[0];
  EXPECT_NEAR(std::stod(match[1]), 115.426888, 0.000001);
  EXPECT_EQ(lines[1], "verified");
}

INSTANTIATE_TEST_SUITE_P(Processes, Heat, ::testing::Values(Shape{1}, Shape{3}, Shape{4}));
INSTANTIATE_TEST_SUITE_P(Nodes, Heat, ::testing::Values(Shape{2, 2}, Shape{4, 2}, Shape{8, 3}));

TEST(Heat, more_processes_than_cells_are_refused) {
  const auto result = run(3, "heat", {"--size", "1"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("cannot be arranged"), std::string::npos) << result.err;
}

TEST(Heat, a_wrong_size_is_refused) { expect_refused("heat", {"--size", "0"}, "--size"); }

}  // namespace
}  // namespace examples::test::heat
