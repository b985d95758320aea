// bale: every kernel in every style, which checks itself; and triangles that are counted here.

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/examples/example.h"

namespace examples::test::bale {
namespace {

using am::test::lines_of;

constexpr std::size_t kKernels = 8;
constexpr std::size_t kStyles = 4;

// The answers of each kernel, of which none may be wrong.
std::map<std::string, std::set<std::string>> answers_of(const std::string& out) {
  static const std::regex pattern(
      "([a-z_]+) +([a-z]+) .* a second, answer ([0-9a-f]{16}), 0 wrong");
  std::map<std::string, std::set<std::string>> answers;
  for (const std::string& line : lines_of(out)) {
    std::smatch match;
    EXPECT_TRUE(std::regex_match(line, match, pattern)) << line;
    if (!match.empty()) answers[match[1]].insert(match[3]);
  }
  return answers;
}

void expect_right(const Shape& shape, const Words& options) {
  Words arguments{"all"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto result = run(shape, "bale", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(lines_of(result.out).size(), kKernels * kStyles) << result.out;
  const auto answers = answers_of(result.out);
  EXPECT_EQ(answers.size(), kKernels);
  for (const auto& [kernel, different] : answers) EXPECT_EQ(different.size(), 1u) << kernel;
}

class Bale : public ::testing::TestWithParam<Shape> {};

TEST_P(Bale, has_one_answer_of_each_kernel_in_all_styles) {
  expect_right(GetParam(),
               {"--size", "150", "--updates", "700", "--degree", "4", "--repetitions", "2"});
}

INSTANTIATE_TEST_SUITE_P(some, Bale,
                         ::testing::Values(Shape{2}, Shape{2, 2}, Shape{3, 2}, Shape{1}, Shape{8},
                                           Shape{4, 2, kDatagrams}, Shape{3, 3, kManyLost}));

TEST(BaleAtItsEnds, works_on_one_word_and_one_row_of_each_process) {
  expect_right(Shape{3, 2}, {"--size", "1", "--updates", "3", "--degree", "64"});
}
TEST(BaleAtItsEnds, works_on_matrices_with_empty_rows) {
  expect_right(Shape{2}, {"--size", "20", "--updates", "0", "--degree", "0"});
}

// The number of triangles in the product of stars with so many leaves, each with a loop at its
// centre, whose own loop is left out: by looking at all triples of vertices.
int triangles_in_product(const std::vector<int>& leaves) {
  int vertices = 1;
  for (const int one : leaves) vertices *= one + 1;
  const auto joined = [&](int a, int b) {
    if (a == b) return false;
    for (const int one : leaves) {
      const int size = one + 1;
      if (a % size != 0 && b % size != 0) return false;
      a /= size, b /= size;
    }
    return true;
  };
  int count = 0;
  for (int a = 0; a < vertices; ++a) {
    for (int b = 0; b < a; ++b) {
      for (int c = 0; c < b; ++c) count += joined(a, b) && joined(b, c) && joined(a, c) ? 1 : 0;
    }
  }
  return count;
}

TEST(BaleTriangles, are_those_of_a_product_of_stars) {
  const auto result = run(Shape{3, 2}, "bale", {"triangles", "--stars", "4", "3", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  const auto answers = answers_of(result.out);
  ASSERT_EQ(answers.size(), 1u);
  char expected[17];
  std::snprintf(expected, sizeof expected, "%016x", triangles_in_product({4, 3, 2}));
  EXPECT_EQ(answers.begin()->second, std::set<std::string>{expected});
}

TEST(BaleOptions, that_make_no_sense_are_refused) {
  expect_refused("bale", {}, "kernel is required");
  expect_refused("bale", {"magic"}, "kernel: magic not in");
  expect_refused("bale", {"histogram", "--degree", "65"}, "--degree: Value 65 not in range");
  expect_refused("bale", {"triangles", "--stars", "60000", "60000"},
                 "--stars: their product has more than the 2^31 vertices");
}

}  // namespace
}  // namespace examples::test::bale
