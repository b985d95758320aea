#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "am/am.h"
#include "splitc/splitc.h"
#include "tests/litmus/engine.h"
#include "tests/litmus/tests.h"
#include "tests/litmus/times.h"

// Runs all litmus tests, and prints how often each outcome was seen.

namespace litmus {
namespace {

#ifdef __SANITIZE_ADDRESS__  // instrumented code is too slow for weak outcomes
constexpr std::uint64_t kFast = 500;
#else
constexpr std::uint64_t kFast = 10'000;
#endif
constexpr Rounds kRounds{.fast = kFast, .shared = 500, .slow = 80, .far = 32};

std::unique_ptr<Engine> engine;

class MakeEngine : public testing::Environment {
 public:
  void SetUp() override { engine = std::make_unique<Engine>(); }
  void TearDown() override { engine.reset(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new MakeEngine);

// How the job lies on its nodes.
std::string shape() {
  return std::to_string(splitc::procs()) + " processes" +
         (splitc::world().router().far_peers() ? " on nodes" : " on one node");
}

void print(const Case& test, const Report& report) {
  std::string line = shape() + ": " + test.name + ": " + test.program + " :";
  for (const auto& [outcome, times] : report.outcomes) {
    line += " " + outcome + (outcome == test.weak ? "(weak)" : "") + " " + std::to_string(times);
  }
  std::puts(line.c_str());
}

class Litmus : public testing::TestWithParam<Case> {};

TEST_P(Litmus, has_only_outcomes_that_the_rules_allow) {
  const Case& test = GetParam();
  const Program program = parse(test);
  if (splitc::procs() < program.processes.size()) GTEST_SKIP() << "too few processes";
  const Report report = engine->run(program, kRounds * times());
  if (splitc::my_proc() != 0) return;
  print(test, report);
  for (const std::string& sentence : report.forbidden) {
    ADD_FAILURE() << test.program << ": " << sentence << ". The rule: " << test.rule;
  }
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Plain, Litmus, testing::ValuesIn(plain_tests()), name_of);
INSTANTIATE_TEST_SUITE_P(SplitPhase, Litmus, testing::ValuesIn(split_phase_tests()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Litmus, testing::ValuesIn(store_tests()), name_of);
INSTANTIATE_TEST_SUITE_P(Atomic, Litmus, testing::ValuesIn(atomic_tests()), name_of);
INSTANTIATE_TEST_SUITE_P(Message, Litmus, testing::ValuesIn(message_tests()), name_of);
INSTANTIATE_TEST_SUITE_P(Barrier, Litmus, testing::ValuesIn(barrier_tests()), name_of);

}  // namespace
}  // namespace litmus
