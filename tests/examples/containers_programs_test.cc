// top_words and unbalanced_tree, on small input and on real text.

#include <gtest/gtest.h>

#include <string>

#include "tests/examples/example.h"

namespace examples::test::containers_programs {
namespace {

TEST(TopWords, are_counted_whoever_has_their_parts) {
  const std::string file = file_with("one, two two; THREE three--three a'a 4 two");
  for (const Shape& shape : {Shape{3}, Shape{8, 3, kDatagrams}}) {
    const auto result = run(shape, "top_words", {"--top", "3", file});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out,
              "42 bytes, 4 different words\n      3  three\n      3  two\n      2  a\n"
              "equal to the serial answer\n");
  }
}

TEST(TopWords, of_real_text_are_those_of_one_process) {
  const auto result = run({4, 2}, "top_words", {"tests/examples/real_text"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("equal to the serial answer\n"), std::string::npos) << result.out;
}

TEST(TopWords, of_no_file_are_refused) {
  expect_refused("top_words", {new_path()}, "cannot be read");
}

TEST(UnbalancedTree, is_visited_completely) {
  for (const Shape& shape : {Shape{1}, Shape{4, 2}}) {
    const auto result = run(shape, "unbalanced_tree", {"--root", "300", "--seed", "5"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(" s: equal\n"), std::string::npos) << result.out;
  }
}

TEST(UnbalancedTree, without_children_is_its_root) {
  const auto result = run(3, "unbalanced_tree", {"--root", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("1 nodes, depth 0, seed 1\n")) << result.out;
}

TEST(UnbalancedTree, that_may_be_endless_is_refused) {
  expect_refused("unbalanced_tree", {"--odds", "0.125"}, "--odds");
}

}  // namespace
}  // namespace examples::test::containers_programs
