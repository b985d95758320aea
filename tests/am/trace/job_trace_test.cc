// splitcrun --trace: what jobs leave, as check_trace.py sees it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/am/job/program.h"

namespace {

using am::test::Program;
using am::test::run;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kMessages = "tests/am/trace/messages";
constexpr const char* kChecker = "tests/am/trace/check_trace.py";

std::string temporary(const std::string& name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/" + name;
}

Program::Result traced(const std::string& file, Words options, const Words& command) {
  Words all{kSplitcrun, "--trace", file};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), command.begin(), command.end());
  return run(all);
}

bool has_python() { return run({"sh", "-c", "command -v python3"}).exit_code == 0; }

void check(const std::string& file, const std::string& processes, const Words& more = {}) {
  Words all{"python3", kChecker, file, processes};
  all.insert(all.end(), more.begin(), more.end());
  const auto checked = run(all);
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  std::printf("%s", checked.out.c_str());
}

class JobTrace : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << "there is no python3, which checks traces";
  }
};

// As many processes on as many nodes, and settings.
struct Shape {
  const char* name;
  const char* processes;
  Words options;
  const char* settings = "A=1";
};

class Messages : public JobTrace, public testing::WithParamInterface<Shape> {};

TEST_P(Messages, are_all_in_the_trace_with_both_ends) {
  const Shape& shape = GetParam();
  const std::string file = temporary(std::string("messages.") + shape.name + ".json");
  Words options{"-n", shape.processes};
  options.insert(options.end(), shape.options.begin(), shape.options.end());
  const auto job = traced(file, options, {"env", shape.settings, kMessages});
  ASSERT_EQ(job.exit_code, 0) << job.err;
  EXPECT_NE(job.err.find(" are in " + file), std::string::npos) << job.err;
  const std::string counts = file + ".counts";
  std::ofstream(counts) << job.out;
  check(file, shape.processes, {"--counts", counts});
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Messages,
    testing::Values(Shape{"alone", "1", {}}, Shape{"one_node", "3", {}},
                    Shape{"two_nodes", "3", {"--nodes", "2"}},
                    Shape{"no_rma", "2", {"--nodes", "2"}, "SPLITC_RMA=0"},
                    Shape{"datagram", "2", {"--nodes", "2"}, "SPLITC_LINK=datagram"}),
    [](const auto& shape) { return shape.param.name; });

TEST_F(JobTrace, of_em3d_is_whole) {
  const std::string file = temporary("em3d.json");
  const auto job = traced(file, {"-n", "4", "--nodes", "2"},
                          {"examples/em3d", "--size", "100", "--degree", "5", "--steps", "2"});
  ASSERT_EQ(job.exit_code, 0) << job.err;
  check(file, "4");
}

// Those that one message or access makes, and those of a shape or a list.
void expect_every_operation(const std::string& name, const Words& options) {
  const std::string file = temporary(name + ".json");
  const auto job = traced(file, options, {"tests/jobs/counted"});
  ASSERT_EQ(job.exit_code, 0) << job.err;
  check(file, "2");
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const auto marks = [&](const std::string& name) {
    const std::string mark = "\"cat\":\"operation\",\"name\":\"" + name + "\"";
    int count = 0;
    for (auto at = text.str().find(mark); at != std::string::npos; ++count) {
      at = text.str().find(mark, at + 1);
    }
    return count;
  };
  EXPECT_EQ(marks("read"), 30);
  EXPECT_EQ(marks("store"), 30);
  EXPECT_EQ(marks("fetch_and_add"), 7);
  EXPECT_EQ(marks("rpc"), 2);  // one carries what is looked up
  for (const char* const once :
       {"bulk_get", "get_strided", "get_indexed", "store_each", "put_signal"}) {
    EXPECT_EQ(marks(once), 1) << once;
  }
}

TEST_F(JobTrace, has_every_operation_with_another_node) {
  expect_every_operation("operations", {"-n", "2", "--nodes", "2"});
}

TEST_F(JobTrace, has_those_within_the_node_if_they_are_watched) {
  expect_every_operation("near_operations", {"-n", "2", "--watch-near"});
}

TEST_F(JobTrace, that_is_full_says_so_and_has_no_arrow_with_one_end) {
  const std::string file = temporary("full.json");
  const auto job =
      traced(file, {"-n", "2", "--nodes", "2"},
             {"env", "SPLITC_TRACE_MEMORY=32K", "examples/em3d", "--size", "200", "--steps", "4"});
  ASSERT_EQ(job.exit_code, 0) << job.err;
  EXPECT_NE(job.err.find("later events are missing"), std::string::npos) << job.err;
  EXPECT_NE(job.err.find("set SPLITC_TRACE_MEMORY higher"), std::string::npos) << job.err;
  check(file, "2", {"--dropped"});
}

TEST(TraceFile, that_cannot_be_written_ends_the_job_at_its_start) {
  const auto job = traced("/no/such/folder/t.json", {"-n", "2"}, {kMessages});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_EQ(job.out, "");
  EXPECT_NE(job.err.find("SPLITC_TRACE=/no/such/folder/t.json: cannot write this file (No such "
                         "file or directory); name one in a folder that exists"),
            std::string::npos)
      << job.err;
}

TEST(TraceFile, is_asked_for_by_all_processes_or_none) {
  const std::string file = temporary("some.json");
  const auto job = run({kSplitcrun, "-n", "2", "sh", "-c",
                        "test $SPLITC_RANK = 1 || export SPLITC_TRACE=" + file + "; exec " +
                            std::string(kMessages)});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_NE(job.err.find("set it in every process or none"), std::string::npos) << job.err;
}

TEST(TraceFile, is_not_for_jobs_that_go_on_without_their_dead) {
  const auto job = traced(temporary("dead.json"), {"-n", "2", "--survive"}, {kMessages});
  EXPECT_EQ(job.exit_code, 2);
  EXPECT_NE(job.err.find("leave out one of the two"), std::string::npos) << job.err;
}

}  // namespace
