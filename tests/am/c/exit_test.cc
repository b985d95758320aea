// AMX_SPMDExit(): one process ends all, with its code, without a word, and the exit callback runs
// once in each. Checked by what a shell would see: exit code, output, errors.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/am/job/program.h"

namespace {

using am::test::Program;

constexpr const char* kExiter = "tests/am/c/exiter";

std::vector<std::string> command(const std::vector<std::string>& shape, const std::string& way) {
  std::vector<std::string> words{"tools/splitcrun/splitcrun", "--timeout", "100"};
  words.insert(words.end(), shape.begin(), shape.end());
  words.insert(words.end(), {kExiter, way});
  return words;
}
Program::Result run(const std::vector<std::string>& shape, const std::string& way) {
  return am::test::run(command(shape, way));
}

constexpr int kSlowProcesses = 3;

// Jobs that end when the library has lost its patience, after seconds of sleep: beside all others.
class SlowJobs : public testing::Environment {
 public:
  void SetUp() override {
    one_of_all.emplace(command({"-n", std::to_string(kSlowProcesses), "--stats"}, "zero"));
    hanging.emplace(command({"-n", std::to_string(kSlowProcesses)}, "hang"));
  }
  void TearDown() override {
    one_of_all.reset();
    hanging.reset();
  }
  static inline std::optional<Program> one_of_all, hanging;
};
const auto* const slow_jobs = testing::AddGlobalTestEnvironment(new SlowJobs);

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int count(const std::string& text, const std::string& line) {
  int found = 0;
  for (const std::string& one : am::test::lines_of(text)) found += one == line ? 1 : 0;
  return found;
}

void expect_quiet_end(const Program::Result& result, int processes, int code) {
  EXPECT_EQ(result.exit_code, code);
  EXPECT_EQ(result.err, "");
  for (int rank = 0; rank < processes; ++rank) {
    EXPECT_EQ(count(result.out, "started " + std::to_string(rank)), 1) << result.out;
    EXPECT_EQ(count(result.out, "called back " + std::to_string(rank) + " " + std::to_string(code)),
              1)
        << result.out;
  }
}

class Shapes : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  static int processes() { return std::stoi(GetParam()[1]); }
  static void expect(const std::string& way, int code) {
    SCOPED_TRACE(way);
    expect_quiet_end(run(GetParam(), way), processes(), code);
  }
};

TEST_P(Shapes, one_process_ends_all_with_its_code) {
  expect("one", 7);
  expect("zero", 0);
  expect("large", 255);
}

TEST_P(Shapes, in_a_signal_handler) { expect("signal", SIGUSR1); }

TEST_P(Shapes, in_a_handler) { expect("message", 6); }

TEST_P(Shapes, in_another_thread) { expect("thread", 9); }

TEST_P(Shapes, all_at_once) { expect("all", 0); }

TEST_P(Shapes, nobody_is_called_back_at_an_ordinary_end) {
  for (const char* way : {"return", "terminate"}) {
    const Program::Result result = run(GetParam(), way);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out.find("called back"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Exit, Shapes,
                         testing::Values(std::vector<std::string>{"-n", "1"},
                                         std::vector<std::string>{"-n", "2"},
                                         std::vector<std::string>{"-n", "5"},
                                         std::vector<std::string>{"-n", "5", "--nodes", "3"}));

// The handler may have interrupted printf() or malloc(), which the callback needs, so the callback
// may be given up; the code is the right one all the same.
TEST(Exit, in_the_middle_of_anything) { EXPECT_EQ(run({"-n", "3"}, "alarm").exit_code, SIGALRM); }

TEST_P(Shapes, all_at_once_with_statistics_and_a_trace) {
  const std::string trace = testing::TempDir() + "/exit_trace.json";
  std::vector<std::string> shape = GetParam();
  shape.insert(shape.end(), {"--stats", "--trace", trace});
  const Program::Result result = run(shape, "all");
  EXPECT_EQ(result.exit_code, 0);
  for (int rank = 0; rank < processes(); ++rank) {
    EXPECT_EQ(count(result.out, "called back " + std::to_string(rank) + " 0"), 1) << result.out;
  }
  EXPECT_NE(result.err.find("statistics"), std::string::npos) << result.err;
  const std::string text = contents_of(trace);
  EXPECT_NE(text.find("AMX_SPMDBarrier"), std::string::npos) << text.substr(0, 1000);
}

// A function of atexit() that calls it again waits for nobody.
TEST(Exit, again_while_it_ends) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run({"-n", "3", "--stats"}, "again").exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9));
}

TEST(Exit, traces_call_handlers_as_the_program_does) {
  const std::string trace = testing::TempDir() + "/noted_trace.json";
  EXPECT_EQ(run({"-n", "2", "--nodes", "2", "--trace", trace}, "noted").exit_code, 0);
  const std::string text = contents_of(trace);
  EXPECT_NE(text.find("\"on_note\""), std::string::npos) << text.substr(0, 3000);
  EXPECT_NE(text.find("\"request on_note\""), std::string::npos);
}

TEST(Exit, tells_statistics_also_where_some_end_by_returning) {
  const Program::Result result = run({"-n", "3", "--stats"}, "mixed");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("statistics of 3 processes"), std::string::npos) << result.err;
}

TEST(Exit, ends_with_its_code_while_another_thread_polls) {
  for (int i = 0; i < 5; ++i) {
    const Program::Result result = run({"-n", "3", "--stats"}, "beside");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
  }
}

// It ends each process, behind the exit callback.
TEST_P(Shapes, the_last_word_is_that_of_a_hook) {
  const Program::Result result = run(GetParam(), "hook");
  EXPECT_EQ(count(result.out, "hook"), processes()) << result.out;
  for (int rank = 0; rank < processes(); ++rank) {
    EXPECT_EQ(count(result.out, "called back " + std::to_string(rank) + " 7"), 1) << result.out;
  }
  EXPECT_EQ(result.err, "");
}

TEST(Exit, a_start_that_fails_says_why) {
  const Program::Result result = am::test::run({"env", "SPLITC_SEGMNT=1M", kExiter, "one"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
}

TEST(Exit, without_a_launcher) {
  expect_quiet_end(am::test::run({kExiter, "one"}), 1, 7);
  expect_quiet_end(am::test::run({kExiter, "all"}), 1, 0);
}

// Last of all: GoogleTest runs cases with parameters behind the others, in the order of their
// suites.
class SlowExit : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Exit, SlowExit, testing::Values(kSlowProcesses));

// Those who do not come are ended by it, as ever.
TEST_P(SlowExit, of_one_process_ends_all_with_statistics_too) {
  const Program::Result result = SlowJobs::one_of_all->finish();
  EXPECT_EQ(result.exit_code, 0);
  for (int rank = 0; rank < GetParam(); ++rank) {
    EXPECT_EQ(count(result.out, "called back " + std::to_string(rank) + " 0"), 1) << result.out;
  }
}

TEST_P(SlowExit, ends_callbacks_that_hang_too) {
  const Program::Result result = SlowJobs::hanging->finish();
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.err, "");
}

}  // namespace
