// word_count, the example in C, against a count by one loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

#include "tests/examples/example.h"

namespace examples::test::word_count {
namespace {

constexpr std::size_t kLongest = 27;  // letters of a word that the program looks at

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// What the program is to print.
std::string counted(const std::string& text) {
  std::map<std::string, int> counts;
  std::string word;
  int total = 0;
  for (const char c : text + " ") {
    if (is_letter(c)) {
      if (word.size() < kLongest) word += lower(c);
    } else if (!word.empty()) {
      ++counts[word];
      ++total;
      word.clear();
    }
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [key, count] : counts) order.emplace_back(-count, key);
  std::ranges::sort(order);
  std::ostringstream out;
  out << total << " words, " << counts.size() << " of them different\n";
  for (std::size_t i = 0; i < order.size() && i < 10; ++i) {
    out.width(7);
    out << -order[i].first << " " << order[i].second << "\n";
  }
  return out.str();
}

class WordCount : public ::testing::TestWithParam<Shape> {
 protected:
  static void expect_counted(const std::string& text) {
    const auto result = run(GetParam(), "word_count", {file_with(text)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, counted(text));
    EXPECT_EQ(result.err, "");
  }
};

TEST_P(WordCount, of_an_empty_text) { expect_counted(""); }

TEST_P(WordCount, of_one_word_that_all_parts_cut) {
  expect_counted(std::string(100, 'x'));
  expect_counted("Hello");
}

TEST_P(WordCount, of_short_words_at_random) {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "ab Cd\n-"[random() % 7];
  expect_counted(text);
}

TEST_P(WordCount, of_real_text) { expect_counted(contents_of("tests/examples/real_text")); }

INSTANTIATE_TEST_SUITE_P(Processes, WordCount,
                         ::testing::Values(Shape{1}, Shape{3}, Shape{4, 2, kFewLost}, Shape{2},
                                           Shape{8}, Shape{5, 3}, Shape{5, 3, kDatagrams},
                                           Shape{3, 3, kManyLost}));

TEST(WordCountArguments, without_a_file) { expect_refused("word_count", {}, "usage: word_count"); }

}  // namespace
}  // namespace examples::test::word_count
