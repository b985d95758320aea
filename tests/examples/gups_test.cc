// gups in all styles, which check themselves: every word is looked at.

#include <gtest/gtest.h>

#include "tests/examples/example.h"

namespace examples::test::gups {
namespace {

using am::test::lines_of;

// The styles that may lose no update.
const Words kExact = {"wait_for_each", "start_many", "call", "gather", "rounds"};

void expect_right(const Shape& shape, const Words& arguments) {
  for (const std::string& style : kExact) {
    Words all = arguments;
    all.insert(all.end(), {"--style", style});
    const auto result = run(shape, "gups", all);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    EXPECT_TRUE(result.out.ends_with("updates a second, 0 words wrong\n")) << result.out;
  }
}

class Gups : public ::testing::TestWithParam<Shape> {};

TEST_P(Gups, loses_no_update) { expect_right(GetParam(), {"--bits", "10", "--updates", "1500"}); }
TEST_P(Gups, of_one_word_a_process_loses_none) {
  expect_right(GetParam(), {"--bits", "0", "--updates", "200", "--seed", "7"});
}

INSTANTIATE_TEST_SUITE_P(on_one_node, Gups,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{2}, Shape{4}, Shape{8}));
INSTANTIATE_TEST_SUITE_P(across_nodes, Gups,
                         ::testing::Values(Shape{4, 2}, Shape{2, 2}, Shape{3, 2, kDatagrams},
                                           Shape{5, 3}, Shape{2, 2, kManyLost}));

TEST(GupsOfAll, makes_its_updates_in_six_styles) {
  const auto result = run(2, "gups", {"--bits", "14", "--updates", "2000"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(lines_of(result.out).size(), 7u) << result.out;
}

TEST(GupsOfAll, refuses_what_makes_no_sense) {
  expect_refused("gups", {"--repetitions", "0"}, "--repetitions: Value 0 not in range");
  expect_refused("gups", {"--style", "magic"}, "--style: magic not in");
  expect_refused("gups", {"--bits", "31"}, "--bits: Value 31 not in range");
}

}  // namespace
}  // namespace examples::test::gups
