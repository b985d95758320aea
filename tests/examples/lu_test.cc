// lu: residuals, and pivots against those of the plain algorithm.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/examples/example.h"

namespace examples::test::lu {
namespace {

using am::test::lines_of;

constexpr const char* kRight = "  right, with the pivots of the serial algorithm";

// Two of heading, then a line for each system.
Words lines_of_systems(const std::string& out) {
  Words lines = lines_of(out);
  if (lines.size() < 2) return {};
  lines.erase(lines.begin(), lines.begin() + 2);
  return lines;
}

// In front of the verdict, which begins with two spaces.
std::string checksum_in(const std::string& line) {
  const std::size_t end = line.rfind("  ");
  return end == std::string::npos || end < 16 ? "none in: " + line : line.substr(end - 16, 16);
}

class Lu : public ::testing::TestWithParam<int> {
 protected:
  // Expects a line for each size that ends with the verdict; returns these lines.
  Words expect_lines(const Words& sizes, const Words& more, const std::string& verdict) {
    Words arguments{"--sizes"};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run(GetParam(), "lu", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    Words lines = lines_of_systems(result.out);
    EXPECT_EQ(lines.size(), sizes.size()) << result.out;
    for (const std::string& line : lines) EXPECT_TRUE(line.ends_with(verdict)) << line;
    return lines;
  }
};

// Fewer equations than processes, and all of them in one block.
TEST_P(Lu, solves_the_smallest_systems) {
  expect_lines({"1", "2", "3", "4", "5", "9"}, {}, kRight);
  expect_lines({"1", "2", "3", "4", "5", "9"}, {"--block", "1"}, kRight);
}

// The right side is a column of the last block, or the first one of another.
TEST_P(Lu, solves_systems_that_blocks_do_and_do_not_divide) {
  for (const char* block : {"4", "7", "32"}) {
    expect_lines({"31", "32", "33", "56", "57"}, {"--block", block}, kRight);
  }
}

TEST_P(Lu, gives_the_same_bits_whoever_has_the_columns) {
  static std::map<std::string, std::string> first;  // by size
  for (const char* block : {"3", "16", "512"}) {
    const Words sizes{"40", "65"};
    const Words lines = expect_lines(sizes, {"--block", block}, kRight);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string checksum = checksum_in(lines[i]);
      EXPECT_EQ(first.try_emplace(sizes[i], checksum).first->second, checksum) << lines[i];
    }
  }
}

TEST_P(Lu, solves_other_equations) {
  expect_lines({"50"}, {"--seed", "7", "--block", "8"}, kRight);
  expect_lines({"50"}, {"--seed", "18446744073709551615", "--block", "8"}, kRight);
}

TEST_P(Lu, solves_systems_too_large_for_the_serial_algorithm) {
  expect_lines({"401"}, {}, "  right");
}

TEST_P(Lu, says_when_there_is_no_single_solution) {
  expect_lines({"2", "10", "40"}, {"--singular", "--block", "4"},
               "  no solution: column 1 has no pivot, with the pivots of the serial algorithm");
  expect_lines({"1"}, {"--singular"}, kRight);  // x = 1
}

INSTANTIATE_TEST_SUITE_P(Processes, Lu, ::testing::ValuesIn(kProcs));
INSTANTIATE_TEST_SUITE_P(Four, Lu, ::testing::Values(4));

class LuAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(LuAcrossNodes, finds_the_pivots_of_the_serial_algorithm) {
  const auto result = run(GetParam(), "lu", {"--sizes", "3", "100", "--block", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Words lines = lines_of_systems(result.out);
  EXPECT_EQ(lines.size(), 2u) << result.out;
  for (const std::string& line : lines) EXPECT_TRUE(line.ends_with(kRight)) << line;
}

INSTANTIATE_TEST_SUITE_P(Nodes, LuAcrossNodes, ::testing::ValuesIn(shapes_across_nodes()));

TEST(Lu, refuses_what_makes_no_sense) {
  expect_refused("lu", {"--sizes", "0"}, "--sizes");
  expect_refused("lu", {"--sizes", "many"}, "--sizes");
  expect_refused("lu", {"--block", "0"}, "--block");
  expect_refused("lu", {"--block", "513"}, "--block");
  expect_refused("lu", {"--seed", "-1"}, "--seed");
  expect_refused("lu", {"--pivots"}, "--pivots");
}

TEST(Lu, refuses_a_matrix_that_does_not_fit) {
  const auto result = am::test::run({"env", "SPLITC_SEGMENT=1M", "tools/splitcrun/splitcrun", "-n",
                                     "2", "examples/lu", "--sizes", "1000"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace examples::test::lu
