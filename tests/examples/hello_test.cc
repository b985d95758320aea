// The small programs: what they say, and that each is a page long.

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/examples/example.h"

namespace examples::test::hello {
namespace {

using am::test::lines_of;

class Hello : public ::testing::TestWithParam<Shape> {};

TEST_P(Hello, am_asks_the_next_rank_and_prints_its_answer) {
  const int procs = GetParam().procs;
  const auto result = run(GetParam(), "hello_am");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::multiset<std::string> expected;
  for (int rank = 0; rank < procs; ++rank) {
    const std::string n = std::to_string(rank + 10);
    const std::string square = std::to_string((rank + 10) * (rank + 10));
    expected.insert("rank " + std::to_string((rank + 1) % procs) + " says that " + n +
                    " squared is " + square);
  }
  const auto lines = lines_of(result.out);
  EXPECT_EQ(std::multiset<std::string>(lines.begin(), lines.end()), expected);
}

TEST_P(Hello, splitc_greets_everybody) {
  const int procs = GetParam().procs;
  const auto result = run(GetParam(), "hello_splitc");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  auto lines = lines_of(result.out);
  std::multiset<std::string> expected;
  std::string greeters;
  for (int proc = 0; proc < procs; ++proc) {
    const std::string left = std::to_string((proc + procs - 1) % procs);
    greeters += " " + left;
    expected.insert("process " + std::to_string(proc) + " of " + std::to_string(procs) +
                    " was greeted by " + left);
  }
  expected.insert("the greeters, by process:" + greeters);
  expected.insert("all mail together: " + std::to_string(procs * (procs + 1) / 2));
  EXPECT_EQ(std::multiset<std::string>(lines.begin(), lines.end()), expected);
}

TEST_P(Hello, ping_pong_measures_every_pair) {
  const int procs = GetParam().procs;
  const auto result = run(GetParam(), "ping_pong");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::regex form("ranks (\\d+) and (\\d+): \\d+\\.\\d{3} us");
  std::set<int> players;
  for (const std::string& line : lines_of(result.out)) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, form)) << line;
    players.insert({std::stoi(match[1]), std::stoi(match[2])});
  }
  EXPECT_EQ(lines_of(result.out).size(), static_cast<std::size_t>((procs + 1) / 2));
  EXPECT_EQ(players.size(), static_cast<std::size_t>(procs));
}

INSTANTIATE_TEST_SUITE_P(Processes, Hello,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{2}, Shape{8}));
INSTANTIATE_TEST_SUITE_P(Nodes, Hello, ::testing::ValuesIn(few_shapes()));

TEST(Hello, each_is_at_most_eighty_lines_long) {
  for (const char* source : {"hello_am.cc", "hello_splitc.cc", "ping_pong.cc"}) {
    const std::string text = contents_of(std::string("examples/") + source);
    EXPECT_GT(text.size(), 0u) << source;
    EXPECT_LE(std::ranges::count(text, '\n'), 80) << source;
  }
}

TEST(Hello, each_says_what_is_wrong_with_a_variable) {
  for (const char* example : {"hello_am", "hello_splitc", "ping_pong"}) {
    const auto result =
        am::test::run({"env", "SPLITC_SEGMNT=1M", std::string("examples/") + example});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace examples::test::hello
