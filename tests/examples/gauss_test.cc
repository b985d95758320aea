// gauss: every search for pivots against the elimination by one process.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "tests/examples/example.h"

namespace examples::test::gauss {
namespace {

using am::test::lines_of;

const Words kSearches{"none", "reduce", "rows", "each"};

class Gauss : public ::testing::TestWithParam<int> {
 protected:
  // Expects a line for each size and search that says what the serial elimination says.
  void expect_lines(const Words& sizes, const Words& more, const Words& searches,
                    const char* verdict) {
    Words arguments{"--sizes"};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run(GetParam(), "gauss", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), sizes.size() * searches.size() + 1) << result.out;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::string& search = searches[(i - 1) % searches.size()];
      EXPECT_NE(lines[i].find("  " + search + " "), std::string::npos) << lines[i];
      EXPECT_NE(lines[i].find(verdict), std::string::npos) << lines[i];
    }
  }
};

TEST_P(Gauss, finds_the_unknowns_of_the_serial_elimination) {
  expect_lines({"40", "41"}, {}, kSearches, "equal to the serial elimination, residual ");
}

// Fewer equations than processes, too.
TEST_P(Gauss, solves_the_smallest_systems) {
  expect_lines({"1", "2", "3", "9"}, {}, kSearches, "equal to the serial elimination, residual ");
}

TEST_P(Gauss, solves_other_equations_by_the_search_that_is_asked_for) {
  for (const std::string& search : kSearches) {
    expect_lines({"20"}, {"--seed", "7", "--search", search}, {search},
                 "equal to the serial elimination, residual ");
  }
}

TEST_P(Gauss, says_when_there_is_no_single_solution) {
  expect_lines({"2", "10"}, {"--singular"}, kSearches, "no solution: a pivot is 0");
}

INSTANTIATE_TEST_SUITE_P(Processes, Gauss, ::testing::ValuesIn(kProcs));

class GaussAcrossNodes : public ::testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(OfTwoToEight, GaussAcrossNodes,
                         ::testing::Values(Shape{4}, Shape{4, 4}, Shape{2, 2, kDatagrams},
                                           Shape{2, 2}, Shape{8, 3}, Shape{8, 3, kDatagrams}));

TEST_P(GaussAcrossNodes, finds_the_unknowns_of_the_serial_elimination) {
  const auto result = run(GetParam(), "gauss", {"--sizes", "12"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto equal = [](const std::string& line) {
    return line.find("equal to the serial elimination") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(lines_of(result.out), equal), std::ssize(kSearches))
      << result.out;
}

INSTANTIATE_TEST_SUITE_P(Nodes, GaussAcrossNodes, ::testing::ValuesIn(shapes_across_nodes()));

// SIZE,SEARCH,...,CHECKSUM
TEST(Gauss, csv_shows_the_same_checksum_whoever_solves) {
  const auto checksums = [](int procs) {
    Words found;
    for (const std::string& line : lines_of(run(procs, "gauss", {"--csv", "--sizes", "30"}).out)) {
      EXPECT_EQ(std::ranges::count(line, ','), 5) << line;
      found.push_back(line.substr(line.rfind(',') + 1));
    }
    return found;
  };
  const Words alone = checksums(1);
  ASSERT_EQ(alone.size(), kSearches.size());
  EXPECT_EQ(alone[1], alone[2]);  // the same pivots
  EXPECT_EQ(alone[1], alone[3]);
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_EQ(checksums(3), alone);
}

TEST(Gauss, refuses_what_makes_no_sense) {
  expect_refused("gauss", {"--sizes", "0"}, "--sizes");
  expect_refused("gauss", {"--search", "luck"}, "--search");
  expect_refused("gauss", {"--seed", "-1"}, "--seed");
}

}  // namespace
}  // namespace examples::test::gauss
