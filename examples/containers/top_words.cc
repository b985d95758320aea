// The most frequent words of a text, which all processes count together.
//
//   ./run top_words README.md
//   ./run -n 8 top_words --top 3 README.md
//
// Each process counts the words that begin in its part of the text; a word is as many letters in a
// row as there are, small and capital ones alike. Process 0 compares with what it counts alone.
// Exit code 1 if the two differ.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "examples/command_line.h"
#include "examples/containers/counting_map.h"
#include "examples/contents.h"
#include "splitc/splitc.h"

namespace top_words {
namespace {

using namespace splitc;
using Words = containers::counting_map<std::string>;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Calls f(word) for each word that begins at `begin` or later, but before `end`.
template <class F>
void for_each_word(const std::string& text, std::size_t begin, std::size_t end, F f) {
  std::size_t at = begin;
  if (at > 0) {  // the rest of a word of the process before
    while (at < text.size() && is_letter(text[at - 1]) && is_letter(text[at])) ++at;
  }
  std::string word;
  while (at < end) {
    for (; at < text.size() && is_letter(text[at]); ++at) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    }
    if (!word.empty()) f(word);
    word.clear();
    ++at;
  }
}

// By this process alone.
std::vector<std::pair<std::int64_t, std::string>> count_serially(const std::string& text) {
  std::map<std::string, std::int64_t> counts;
  for_each_word(text, 0, text.size(), [&](const std::string& word) { ++counts[word]; });
  std::vector<std::pair<std::int64_t, std::string>> all;
  all.reserve(counts.size());
  for (const auto& [word, count] : counts) all.emplace_back(-count, word);
  std::sort(all.begin(), all.end());
  return all;
}

// Prints them, and returns whether they are what one process counts.
bool check(const std::string& text, std::uint64_t different,
           const std::vector<Words::Counted>& top) {
  std::printf("%zu bytes, %lu different words\n", text.size(), different);
  const auto expected = count_serially(text);
  bool equal = different == expected.size();
  for (std::size_t i = 0; i < top.size(); ++i) {
    std::printf("%7ld  %s\n", top[i].count, top[i].key.c_str());
    equal = equal && expected[i] == std::pair(-top[i].count, top[i].key);
  }
  std::printf(equal ? "equal to the serial answer\n" : "NOT equal to the serial answer\n");
  return equal;
}

int program(Args args) {
  std::string file;
  std::size_t top = 10;
  examples::CommandLine line("The most frequent words of a text.", "top_words");
  line.option("FILE", file, "the text").type_name("PATH").required();
  line.option("--top", top, "how many words to print");
  if (!line.parse(args)) return 0;

  const std::string text = examples::contents_of(file);
  Words words;
  const std::size_t begin = text.size() * my_proc() / procs();
  const std::size_t end = text.size() * (my_proc() + 1) / procs();
  for_each_word(text, begin, end, [&](const std::string& word) { words.async_add(word); });
  words.quiesce();
  const std::uint64_t different = words.size();
  const std::vector<Words::Counted> most = words.top_k(top);
  bool equal = true;
  on_one([&] { equal = check(text, different, most); });
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace top_words

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return top_words::program(args); });
}
