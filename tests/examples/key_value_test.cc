// key_value under loads of all kinds; it checks every answer, and in the end every value.

#include <gtest/gtest.h>

#include <regex>

#include "tests/examples/example.h"

namespace examples::test::key_value {
namespace {

// Runs it, and expects that it found everything right; returns what it printed.
std::string expect_right(const Shape& shape, const Words& arguments) {
  const auto result = run(shape, "key_value", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_NE(result.out.find("\nright: what was read was written, "), std::string::npos)
      << result.out;
  return result.out;
}

// The number of requests in the line that begins with `name`; 0 if there is none.
std::uint64_t requests(const std::string& out, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(out, found, std::regex("\n" + name + " +([0-9]+)"))) return 0;
  return std::stoull(found[1]);
}

class KeyValue : public ::testing::TestWithParam<Shape> {};

TEST_P(KeyValue, gives_what_was_written) {
  const std::string out =
      expect_right(GetParam(), {"--keys", "100", "--requests", "600", "--reads", "60"});
  std::uint64_t all = 0;
  for (const char* name : {"read", "put", "update", "here"}) all += requests(out, name);
  EXPECT_EQ(all, 600u * static_cast<unsigned>(GetParam().procs)) << out;
}

// All processes write the same few keys, whose values are messages of several pieces.
TEST_P(KeyValue, loses_no_write_of_few_keys) {
  expect_right(GetParam(), {"--keys", "3", "--requests", "150", "--reads", "30", "--updates", "70",
                            "--bytes", "9000", "--distribution", "uniform"});
}

INSTANTIATE_TEST_SUITE_P(on_one_node, KeyValue,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{2}, Shape{4}, Shape{8}));
INSTANTIATE_TEST_SUITE_P(across_nodes, KeyValue,
                         ::testing::Values(Shape{2, 2}, Shape{4, 2}, Shape{3, 3, kFewLost},
                                           Shape{5, 3}, Shape{4, 2, kDatagrams}));

TEST(KeyValue, makes_the_requests_that_are_asked_for) {
  for (const char* outstanding : {"1", "500"}) {
    const std::string only_reads =
        expect_right({3}, {"--requests", "300", "--reads", "100", "--outstanding", outstanding});
    EXPECT_GT(requests(only_reads, "read"), 300u);
    EXPECT_EQ(requests(only_reads, "put"), 0u);
    EXPECT_EQ(requests(only_reads, "update"), 0u);
  }
  const std::string only_updates =
      expect_right({3}, {"--requests", "300", "--reads", "0", "--updates", "100"});
  EXPECT_GT(requests(only_updates, "update"), 300u);
  EXPECT_EQ(requests(only_updates, "put"), 0u);
  const std::string only_puts =
      expect_right({3}, {"--requests", "300", "--reads", "0", "--updates", "0", "--bytes", "16"});
  EXPECT_GT(requests(only_puts, "put"), 300u);
  EXPECT_NE(only_puts.find("of 10900 writes none is lost"), std::string::npos) << only_puts;
}

// Percent of the requests that are for the most popular one of 4 keys.
double most_popular(const Words& distribution) {
  Words arguments{"--keys", "4", "--requests", "10000"};
  arguments.insert(arguments.end(), distribution.begin(), distribution.end());
  const std::string out = expect_right({2}, arguments);
  std::smatch found;
  if (!std::regex_search(out, found, std::regex("([0-9.]+) % of them for one key"))) return 0;
  return std::stod(found[1]);
}

TEST(KeyValue, asks_for_popular_keys_more_often_if_it_is_zipfian) {
  EXPECT_NEAR(most_popular({"--distribution", "zipfian", "--skew", "1"}), 48, 1);  // 12 of 25
  EXPECT_NEAR(most_popular({"--distribution", "zipfian", "--skew", "0"}), 25, 1);
  EXPECT_NEAR(most_popular({"--distribution", "uniform"}), 25, 1);
}

TEST(KeyValue, refuses_what_makes_no_sense) {
  expect_refused("key_value", {"--bytes", "100"}, "--bytes 100 is no multiple of 8; make it 104");
  expect_refused("key_value", {"--bytes", "8"}, "--bytes");
  expect_refused("key_value", {"--keys", "0"}, "--keys");
  expect_refused("key_value", {"--requests", "0"}, "--requests");
  expect_refused("key_value", {"--outstanding", "0"}, "--outstanding");
  expect_refused("key_value", {"--reads", "101"}, "--reads");
  expect_refused("key_value", {"--updates", "-1"}, "--updates");
  expect_refused("key_value", {"--distribution", "normal"}, "--distribution");
  expect_refused("key_value", {"--skew", "many"}, "--skew");
  expect_refused("key_value", {"more"}, "more");
}

}  // namespace
}  // namespace examples::test::key_value
