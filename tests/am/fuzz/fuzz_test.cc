// A decoder meets inputs made up from a seed.
//
//   --seed=N      other inputs; case i of seed N is case 0 of seed N + i
//   --cases=N     how many
//   --seconds=N   as many as that takes instead
//   --trace       says which case comes before it does
//   --corpus=DIR  writes the valid inputs there, for libFuzzer, and does nothing else
#include "tests/am/fuzz/fuzz.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/am/fuzz/mutate.h"
#include "tests/support/seed.h"

namespace am::fuzz {
namespace {

struct Options {
  int cases = kUsualCases;
  int seconds = 0;
  bool trace = false;
  std::string corpus;
} options;

TEST(Fuzz, what_correct_processes_send_is_accepted) {
  for (const Records& input : valid_inputs()) EXPECT_TRUE(decode(input));
}

TEST(Fuzz, what_nobody_sends_is_refused_or_harmless) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Records> valid = valid_inputs();
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  int accepted = 0;
  int i = 0;
  for (; options.seconds != 0 ? Clock::now() < end : i < options.cases; ++i) {
    if (options.trace) std::fprintf(stderr, "case %d\n", i);
    accepted += decode(Mutator(test::seed() + static_cast<std::uint64_t>(i)).mutate(valid));
  }
  std::printf("%d inputs, %d of them accepted\n", i, accepted);
  EXPECT_LT(accepted, i) << "it refuses nothing";
}

bool take(std::string_view word, std::string_view name, std::string_view& value) {
  if (!word.starts_with(name)) return false;
  value = word.substr(name.size());
  return true;
}

void write_corpus() {
  int number = 0;
  for (const Records& input : valid_inputs()) {
    const Bytes bytes = join(input);
    std::ofstream file(options.corpus + "/" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

int run(int argc, char** argv) {
  const auto given = test::take_seed(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::string_view value;
    if (take(argv[i], "--cases=", value)) options.cases = std::atoi(value.data());
    if (take(argv[i], "--seconds=", value)) options.seconds = std::atoi(value.data());
    if (take(argv[i], "--corpus=", value)) options.corpus = value;
    if (std::string_view(argv[i]) == "--trace") options.trace = true;
  }
  if (!options.corpus.empty()) {
    write_corpus();
    return 0;
  }
  test::set_seed(given.value_or(test::kUsualSeed));
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace am::fuzz

int main(int argc, char** argv) { return am::fuzz::run(argc, argv); }
