#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

#include "tests/litmus/program.h"
#include "tests/litmus/tests.h"

// The litmus tests as they are written down: each is a program, and holds the library to a sentence
// that docs/memory-rules.md has.

namespace litmus {
namespace {

// The page, with one space wherever there is any.
std::string page() {
  std::ifstream file("docs/memory-rules.md");
  std::string text;
  for (std::string word; file >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<Case> all_tests() {
  std::vector<Case> all;
  for (const auto& some : {plain_tests(), split_phase_tests(), store_tests(), atomic_tests(),
                           message_tests(), barrier_tests()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

TEST(LitmusRules, are_sentences_of_the_page) {
  const std::string text = page();
  ASSERT_GT(text.size(), 1000u);
  for (const Case& test : all_tests()) {
    EXPECT_NE(text.find(test.rule), std::string::npos)
        << "docs/memory-rules.md does not say: " << test.rule;
  }
}

TEST(LitmusRules, have_patterns_as_long_as_the_outcomes_and_weak_ones_that_could_occur) {
  for (const Case& test : all_tests()) {
    const Program program = parse(test);
    const std::size_t length = program.registers.size() + program.finals.size();
    std::istringstream patterns(std::string(test.allowed) + " " + test.weak + " " + test.on_node);
    for (std::string pattern; patterns >> pattern;) {
      EXPECT_EQ(pattern.size(), length) << test.name << ": " << pattern;
    }
  }
}

TEST(LitmusProgram, is_taken_apart_operation_by_operation) {
  const Program program = parse({.name = "",
                                 .program = "x=1; add a=y+2 | count 8; wide b=x",
                                 .allowed = "",
                                 .rule = "",
                                 .home = "y@1"});
  ASSERT_EQ(program.processes.size(), 2u);
  const auto& [write, add] = std::tie(program.processes[0][0], program.processes[0][1]);
  EXPECT_EQ(write.kind, Kind::kWrite);
  EXPECT_EQ(write.value, 1);
  EXPECT_EQ(add.kind, Kind::kAdd);
  EXPECT_EQ(add.value, 2);
  EXPECT_EQ(add.location, 'y' - 'g');
  EXPECT_EQ(program.processes[1][0].kind, Kind::kCount);
  EXPECT_EQ(program.processes[1][0].value, 8);
  EXPECT_EQ(program.processes[1][1].kind, Kind::kWideRead);
  EXPECT_EQ(program.registers.size(), 2u);
  EXPECT_EQ(program.process_of(1), 1u);
  EXPECT_EQ(program.home['y' - 'g'], 1);
  EXPECT_EQ(program.home['x' - 'g'], -1);
}

TEST(LitmusProgram, refuses_what_is_no_operation) {
  for (const char* text : {"x=y", "a=1", "x", "put a=x=", "foo x=1", "x=12", "barrier | x=1", ""}) {
    EXPECT_THROW(parse({.name = "", .program = text, .allowed = "", .rule = ""}),
                 std::invalid_argument)
        << text;
  }
}

TEST(LitmusPattern, fits_digits_and_half_written_objects_as_it_says) {
  EXPECT_TRUE(fits("0? ?1", "00"));
  EXPECT_TRUE(fits("0? ?1", "11"));
  EXPECT_FALSE(fits("0? ?1", "10"));
  EXPECT_FALSE(fits("0?", "02"));
  EXPECT_FALSE(fits("0?", "0-"));
  EXPECT_TRUE(fits("0*", "0-"));
  EXPECT_FALSE(fits("0?", "000"));
}

}  // namespace
}  // namespace litmus
