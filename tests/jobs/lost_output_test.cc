// Output that was asked for and cannot be written: the exit code is not 0, and where standard error
// can be written, it says what is lost.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/text.h"

namespace lost_output {

using am::test::Program;
using am::test::run;
using test::expect_contains;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kHello = "examples/hello_splitc";
constexpr const char* kHelloAm = "examples/hello_am";

Program::Result run_in_shell(const std::string& command) { return run({"sh", "-c", command}); }

std::string job_of_two(const std::string& options) {
  return "exec " + std::string(kSplitcrun) + " -n 2 " + options + " ";
}

TEST(LostOutput, of_a_trace_is_said_and_is_no_success) {
  for (const char* program : {kHello, kHelloAm}) {
    for (const std::string& launcher : {job_of_two(""), std::string("exec ")}) {
      const auto result = run_in_shell("SPLITC_TRACE=/dev/full " + launcher + program);
      EXPECT_EQ(result.exit_code, 1) << program << launcher << result.err;
      expect_contains(result.err, {"rank 0: SPLITC_TRACE=/dev/full: the trace is not complete (No "
                                   "space left on device); make room"});
      EXPECT_EQ(result.err.find("ending"), std::string::npos) << "the others end by themselves";
    }
  }
}

const std::string kLosses[] = {"2>/dev/full", "2>&-"};

TEST(LostOutput, of_statistics_is_no_success) {
  for (const std::string& loss : kLosses) {
    for (const char* options : {"--stats", "--stats=json", "--stats --label"}) {
      EXPECT_NE(run_in_shell(job_of_two(options) + kHello + " " + loss).exit_code, 0)
          << options << loss;
    }
    EXPECT_EQ(run_in_shell(std::string("SPLITC_STATS=1 exec ") + kHello + " " + loss).exit_code, 1);
    EXPECT_EQ(run_in_shell(job_of_two("") + kHello + " " + loss).exit_code, 0)
        << "nothing was asked for";
  }
}

// A longer job each time, until one has lasted until its first table.
TEST(LostOutput, of_live_tables_is_no_success) {
  for (const std::string& loss : kLosses) {
    int code = 0;
    for (int seconds = 1; code == 0 && seconds <= 64; seconds *= 2) {
      const std::string sleep = "sleep " + std::to_string(seconds) + " ";
      code = run_in_shell(job_of_two("--top=0.1") + sleep + loss).exit_code;
    }
    EXPECT_EQ(code, 1) << loss;
  }
}

TEST(LostOutput, of_what_processes_print_is_said_and_is_no_success) {
  for (const char* loss : {">/dev/full", ">&-"}) {
    const auto result = run_in_shell(job_of_two("--label") + "echo text " + loss);
    EXPECT_NE(result.exit_code, 0) << loss;
    expect_contains(result.err, {"splitcrun: cannot write to descriptor 1 (",
                                 "so what the processes print there is lost"});
  }
  EXPECT_EQ(run_in_shell(job_of_two("--label") + "true >&-").exit_code, 0) << "nothing is lost";
}

TEST(LostOutput, of_what_is_said_of_the_start_is_no_success) {
  for (const std::string& loss : kLosses) {
    EXPECT_EQ(run_in_shell(job_of_two("--verbose") + "true " + loss).exit_code, 1) << loss;
  }
  for (const std::string& launcher : {job_of_two(""), std::string("exec ")}) {
    const auto result = run_in_shell("SPLITC_VERBOSE=1 " + launcher + kHello + " >/dev/full");
    EXPECT_EQ(result.exit_code, 1) << launcher;
    expect_contains(result.err, {"standard output cannot be written (No space left on device), so "
                                 "what SPLITC_VERBOSE asked for is lost: "});
  }
}

TEST(LostOutput, of_an_answer_is_said_and_is_no_success) {
  for (const char* question :
       {"tools/splitcrun/splitcrun --help", "tools/splitcrun/splitcrun --help-env",
        "tools/splitcrun/splitcrun --version", "tools/doctor/splitc-info",
        "tools/doctor/splitc-info -h", "tools/doctor/splitc-doctor",
        "tools/doctor/splitc-doctor --version"}) {
    const auto result = run_in_shell("exec " + std::string(question) + " >/dev/full");
    EXPECT_EQ(result.exit_code, 2) << question;
    expect_contains(result.err, {"cannot write to standard output (No space left on device)"});
  }
}

}  // namespace lost_output
