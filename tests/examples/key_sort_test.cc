// key_sort: every sort in every version gives what std::sort gives, of every distribution.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/examples/example.h"

namespace examples::test::key_sort {
namespace {

using am::test::lines_of;

constexpr std::size_t kRowsOfKeys = 8;  // two sorts in four versions
constexpr std::size_t kDistributions = 9;

// What the program prints of one version.
struct Row {
  std::string keys;
  double largest;  // part, of the average
  std::string digest;
};
std::vector<Row> rows_of(const std::string& out) {
  static const std::regex pattern(
      "(?:radix|sample) +[a-z]+ +([a-z_]+) .*largest part ([0-9.]+) of.*digest ([0-9a-f]{16})");
  std::vector<Row> rows;
  for (const std::string& line : lines_of(out)) {
    std::smatch match;
    EXPECT_TRUE(std::regex_match(line, match, pattern)) << line;
    if (!match.empty()) rows.push_back({match[1], std::stod(match[2]), match[3]});
  }
  return rows;
}

std::vector<Row> sort(const Shape& shape, const Words& arguments) {
  Words all{"--check", "--repetitions", "2"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const auto result = run(shape, "key_sort", all);
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  return rows_of(result.out);
}

class KeySort : public ::testing::TestWithParam<Shape> {};

TEST_P(KeySort, gives_the_order_of_std_sort_in_all_versions) {
  const std::vector<Row> rows = sort(GetParam(), {"--size", "700", "--keys", "all"});
  ASSERT_EQ(rows.size(), kDistributions * kRowsOfKeys);
  std::map<std::string, std::set<std::string>> digests;
  for (const Row& row : rows) digests[row.keys].insert(row.digest);
  EXPECT_EQ(digests.size(), kDistributions);
  for (const auto& [keys, different] : digests) EXPECT_EQ(different.size(), 1u) << keys;
}

TEST_P(KeySort, sorts_one_key_of_each_process) {
  EXPECT_EQ(sort(GetParam(), {"--size", "1", "--digit", "3"}).size(), kRowsOfKeys);
}

INSTANTIATE_TEST_SUITE_P(on_one_node, KeySort,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{2}, Shape{4}, Shape{8}));
INSTANTIATE_TEST_SUITE_P(across_nodes, KeySort,
                         ::testing::Values(Shape{4, 2}, Shape{2, 2}, Shape{3, 2, kDatagrams},
                                           Shape{5, 3}, Shape{2, 2, kManyLost}));

TEST(KeySortOfMany, gives_all_processes_about_as_many) {
  const Words arguments{"--size", "20000", "--keys", "all", "--version", "bulk"};
  const std::vector<Row> rows = sort(Shape{4}, arguments);
  EXPECT_EQ(rows.size(), 2 * kDistributions);
  for (const Row& row : rows) EXPECT_LT(row.largest, 1.25) << row.keys;
}

TEST(KeySortOfMany, sorts_no_keys) {
  EXPECT_EQ(sort(Shape{3}, {"--size", "0"}).size(), kRowsOfKeys);
}

TEST(KeySortOfMany, refuses_what_makes_no_sense) {
  expect_refused("key_sort", {"--keys", "magic"}, "--keys: magic not in");
  expect_refused("key_sort", {"--version", "magic"}, "--version: magic not in");
  expect_refused("key_sort", {"--sort", "bubble"}, "--sort: bubble not in");
  expect_refused("key_sort", {"--digit", "0"}, "--digit: Value 0 not in range 1 to 16");
  expect_refused("key_sort", {"--size", "5000000000"}, "--size: Value 5000000000 not in range");
}

TEST(KeySortOfMany, says_that_keys_do_not_fit_into_the_segment) {
  expect_refused("key_sort", {"--size", "80000000"}, "set SPLITC_SEGMENT higher");
}

}  // namespace
}  // namespace examples::test::key_sort
