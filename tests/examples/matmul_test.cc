// matmul: every version against the serial product, on square grids and others.

#include <gtest/gtest.h>

#include "tests/examples/example.h"

namespace examples::test::matmul {
namespace {

using am::test::lines_of;

const Words kVersions{"read", "get", "cannon", "channel"};

// Expects one line for each of `versions`, which ends with `verdict`.
void expect_right(const Shape& shape, const Words& arguments, std::string_view verdict,
                  const Words& versions = kVersions) {
  const auto result = run(shape, "matmul", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), versions.size() + 2) << result.out;  // behind two of heading
  for (std::size_t i = 0; i < versions.size(); ++i) {
    EXPECT_TRUE(lines[i + 2].starts_with(versions[i] + " ")) << lines[i + 2];
    EXPECT_TRUE(lines[i + 2].ends_with(verdict)) << lines[i + 2];
  }
}
constexpr std::string_view kSerial = "  equal to the serial product";

class Matmul : public ::testing::TestWithParam<Shape> {};

TEST_P(Matmul, gives_the_serial_product_in_four_versions) {
  expect_right(GetParam(), {"--size", "37"}, kSerial);
}

// One row, and less depth than pieces: most have nothing to multiply.
TEST_P(Matmul, gives_it_where_blocks_are_empty) {
  for (const char* size : {"1", "3"}) expect_right(GetParam(), {"--size", size}, kSerial);
}

// Grids of 2 x 1, 3 x 1, 2 x 2, 5 x 1, 3 x 2, 4 x 2 and 3 x 3.
INSTANTIATE_TEST_SUITE_P(on_one_node, Matmul,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{4}, Shape{2}, Shape{5},
                                           Shape{6}, Shape{8}, Shape{9}));
INSTANTIATE_TEST_SUITE_P(across_nodes, Matmul, ::testing::Values(Shape{4, 2}));

class MatmulAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(MatmulAcrossNodes, gives_the_serial_product_in_four_versions) {
  expect_right(GetParam(), {"--size", "37", "--repetitions", "2"}, kSerial);
}

INSTANTIATE_TEST_SUITE_P(nodes, MatmulAcrossNodes,
                         ::testing::Values(Shape{2, 2}, Shape{4, 4}, Shape{4, 2, kDatagrams},
                                           Shape{6, 3}, Shape{4, 4, kFewLost}));

TEST(Matmul, checks_large_products_with_random_vectors) {
  expect_right({4, 2}, {"--size", "250"}, "  right by Freivalds' check");
}

TEST(Matmul, runs_the_version_that_is_asked_for) {
  for (const std::string& version : kVersions) {
    expect_right({3}, {"--size", "20", "--repetitions", "1", "--version", version}, kSerial,
                 {version});
  }
}

TEST(Matmul, refuses_what_makes_no_sense) {
  expect_refused("matmul", {"--size", "0"}, "--size");
  expect_refused("matmul", {"--size", "many"}, "--size");
  expect_refused("matmul", {"--size", "20001"}, "--size");
  expect_refused("matmul", {"--repetitions", "0"}, "--repetitions");
  expect_refused("matmul", {"--version", "fastest"}, "--version");
  expect_refused("matmul", {"more"}, "more");
}

TEST(Matmul, refuses_matrices_for_which_there_is_no_memory) {
  const auto result = am::test::run({"env", "SPLITC_SEGMENT=4M", "tools/splitcrun/splitcrun", "-n",
                                     "2", "examples/matmul", "--size", "1000"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace examples::test::matmul
