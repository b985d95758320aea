// The end of C programs, and what signals and threads of theirs do meanwhile.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/free_port.h"

namespace {

using am::test::lines_of;
using am::test::Program;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kEnds = "tests/am/c/ends";

Program::Result run(int processes, const std::string& way) {
  return am::test::run({"tools/splitcrun/splitcrun", "-n", std::to_string(processes), "--timeout",
                        "200", kEnds, way});
}

// Without a launcher: two processes that meet.
std::vector<Program::Result> run_two_that_meet(const std::string& way) {
  const std::string port = std::to_string(test::free_port());
  std::vector<std::unique_ptr<Program>> all;
  for (const char* rank : {"0", "1"}) {
    all.push_back(std::make_unique<Program>(std::vector<std::string>{
        "env", "SPLITC_RENDEZVOUS=127.0.0.1:" + port, "SPLITC_SECRET=known to the test",
        "SPLITC_SIZE=2", std::string("SPLITC_RANK=") + rank, kEnds, way}));
  }
  std::vector<Program::Result> results;
  for (const auto& one : all) results.push_back(one->finish());
  return results;
}

void expect_lines(int processes, const std::string& way, const std::string& line) {
  const Program::Result result = run(processes, way);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::vector<std::string> lines = lines_of(result.out);
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(processes)) << result.out;
  EXPECT_THAT(lines, Each(EndsWith(line)));
}

TEST(Ends, what_was_sent_before_the_end_is_handled) {
  expect_lines(2, "send", "counted 1");
  expect_lines(5, "send", "counted 1");
}

TEST(Ends, so_is_what_waits_for_credit_towards_the_own_process) {
  expect_lines(1, "send to myself", "counted 100");
  expect_lines(2, "send to myself", "counted 100");
  expect_lines(2, "send to a thread that is gone", "counted 100");
}

TEST(Ends, sentences_are_whole_in_functions_that_run_at_the_exit) {
  expect_lines(2, "sentence", "AM_Poll: call AM_Init() or AMX_SPMDStartup() first");
}

TEST(Ends, calls_after_the_end_are_refused) {
  const Program::Result result = run(1, "late");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(lines_of(result.out), ElementsAre("AM_ERR_NOT_INIT", "AM_ERR_RESOURCE"));
}

TEST(Ends, signals_are_for_the_programs_own_threads) {
  expect_lines(2, "blocked signals", "in peace");
}

TEST(Ends, signals_do_not_cut_off_the_callback_of_an_exit) {
  const Program::Result result = run(2, "exit among signals");
  EXPECT_EQ(result.exit_code, 3);
  int called = 0;
  int buffered = 0;
  for (const std::string& line : lines_of(result.out)) {
    called += line == "called back 3" ? 1 : 0;
    buffered += line == "in a buffer" ? 1 : 0;
  }
  EXPECT_EQ(called, 2) << result.out;
  EXPECT_EQ(buffered, 2) << result.out;
}

TEST(Ends, of_those_who_meet_without_a_launcher_wait_for_one_another) {
  for (const Program::Result& one : run_two_that_meet("exit 0")) {
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(one.err, "");
  }
}

TEST(Ends, that_cannot_wait_for_the_others_say_so) {
  for (const Program::Result& one : run_two_that_meet("exit 0 in a handler")) {
    EXPECT_NE(one.exit_code, 0);
    EXPECT_THAT(one.err, AllOf(HasSubstr("rank "), HasSubstr("AMX_SPMDExit(0) in a handler")));
  }
}

}  // namespace
