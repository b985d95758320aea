// Programs whose standard streams are closed, at the start or later: what they print goes nowhere,
// and into nothing that the library has opened.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/free_port.h"

namespace descriptors {

using am::test::Program;
using am::test::run;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kPrinter = "tests/jobs/printer";

// Each of the three alone, and all.
const std::vector<std::string> kClosed = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"};

Program::Result run_in_shell(const std::string& command) { return run({"sh", "-c", command}); }

TEST(ClosedStreams, do_not_harm_a_program_started_bare) {
  for (const std::string& closed : kClosed) {
    const auto result = run_in_shell(std::string("exec ") + kPrinter + " " + closed);
    EXPECT_EQ(result.exit_code, 0) << closed << " " << result.err.substr(0, 200);
  }
}

std::string job_of_three(const std::string& options) {
  return std::string("exec ") + kSplitcrun + options + kPrinter + " ";
}

TEST(ClosedStreams, do_not_harm_a_job_of_splitcrun) {
  for (const std::string& closed : kClosed) {
    const auto result = run_in_shell(job_of_three(" -n 3 ") + closed);
    EXPECT_EQ(result.exit_code, 0) << closed << " " << result.err.substr(0, 200);
  }
  EXPECT_EQ(run_in_shell(job_of_three(" -n 3 --nodes 3 ") + kClosed.back()).exit_code, 0);
}

// What its processes print is lost, which is all that is wrong.
TEST(ClosedStreams, of_splitcrun_with_labels_do_not_harm_its_processes) {
  for (const std::string& closed : kClosed) {
    const auto result =
        run_in_shell("trap '' PIPE; exec " + std::string(kSplitcrun) + " -n 3 --label sh -c '" +
                     kPrinter + " || kill -9 $$' " + closed);
    EXPECT_EQ(result.exit_code, closed == "<&-" ? 0 : 1) << closed << " " << result.err;
  }
}

TEST(ClosedStreams, of_its_processes_alone_do_not_harm_a_job_of_splitcrun) {
  for (const std::string& closed : kClosed) {
    const auto result =
        run({kSplitcrun, "-n", "3", "sh", "-c", std::string("exec ") + kPrinter + " " + closed});
    EXPECT_EQ(result.exit_code, 0) << closed << " " << result.err.substr(0, 200);
  }
}

TEST(ClosedStreams, do_not_harm_a_job_that_meets) {
  for (const std::string& closed : kClosed) {
    const std::string port = std::to_string(test::free_port());
    std::vector<std::unique_ptr<Program>> all;
    for (const char* rank : {"0", "1", "2"}) {
      all.push_back(std::make_unique<Program>(std::vector<std::string>{
          "env", "SPLITC_RENDEZVOUS=127.0.0.1:" + port, "SPLITC_SECRET=known to the test",
          "SPLITC_SIZE=3", std::string("SPLITC_RANK=") + rank, "sh", "-c",
          std::string("exec ") + kPrinter + " >/dev/null 2>&1 " + closed}));
    }
    for (const auto& one : all) EXPECT_EQ(one->finish().exit_code, 0) << closed;
  }
}

TEST(ClosedStreams, stay_closed_when_a_program_closes_them_later) {
  EXPECT_EQ(run({kPrinter, "close"}).exit_code, 0);
  EXPECT_EQ(run({kSplitcrun, "-n", "3", kPrinter, "close"}).exit_code, 0);
}

}  // namespace descriptors
