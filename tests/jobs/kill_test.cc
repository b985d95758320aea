// A process of a running job is killed: the job ends soon, says whom it lost, and leaves nothing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/jobs/far_jobs.h"
#include "tests/support/seed.h"

namespace kills {

using am::test::kSplitcrun;
using am::test::let_pass;
using am::test::lines_of;
using am::test::Program;
using am::test::shared_memory_files;

constexpr const char* kVictim = "tests/jobs/victim";
constexpr unsigned kPatience = 20;  // seconds after which a job that does not end fails the test

struct Process {
  int rank;
  pid_t pid;
};

std::vector<Process> processes_in(const std::string& output) {
  std::vector<Process> all;
  for (const std::string& line : lines_of(output)) {
    Process process{};
    if (std::istringstream(line) >> process.rank >> process.pid) all.push_back(process);
  }
  return all;
}

class Kill : public testing::Test {
 protected:
  // Orphans of the jobs become children of this process, so that it sees them.
  static void SetUpTestSuite() { ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }

  // Runs a job, kills one of its processes, `rank` if it is given, and checks how it ends. Returns
  // how many ms it took.
  double kill_one(int size, const std::string& how, std::optional<int> rank = {}) {
    alarm(kPatience);
    Program job({kSplitcrun, "-n", std::to_string(size), kVictim, how});
    // Sometimes while others have not come as far.
    const int awaited = !rank && random_() % 4 == 0 ? 1 : size;
    auto candidates = processes_in(job.wait_for_lines(awaited));
    EXPECT_GE(candidates.size(), static_cast<std::size_t>(awaited));
    let_pass(random_);
    const auto chosen = std::ranges::find_if(
        candidates, [&](const Process& process) { return process.rank == rank; });
    const Process victim =
        chosen != candidates.end() ? *chosen : candidates[random_() % candidates.size()];
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(kill(victim.pid, SIGKILL), 0);
    const auto result = job.finish();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    alarm(0);
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    const std::string sentence = "splitcrun: rank " + std::to_string(victim.rank) + " (pid " +
                                 std::to_string(victim.pid) + ") was killed by signal 9 (Killed)";
    EXPECT_TRUE(result.err.starts_with(sentence)) << result.err;
    for (const Process& process : processes_in(result.out)) {
      EXPECT_TRUE(kill(process.pid, 0) != 0 && errno == ESRCH)
          << "rank " << process.rank << " is left";
    }
    EXPECT_TRUE(waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD) << "a process is left";
    return took.count();
  }

  std::mt19937_64 random_{::test::seed()};
};

TEST_F(Kill, of_a_random_process_at_a_random_moment_ends_the_job) {
  const auto before = shared_memory_files();
  const std::string ways[] = {"flood", "barriers", "blocked", "channels", "zero_copy"};
  for (std::size_t i = 0; i < 25; ++i) {
    const int size = 2 + static_cast<int>(random_() % 7);
    const std::string& how = ways[i % 5];
    SCOPED_TRACE(how + ", " + std::to_string(size) + " processes");
    const double took = kill_one(size, how);
    std::printf("%s, %d processes: ended %.0f ms after the kill\n", how.c_str(), size, took);
    if (HasFailure()) break;
  }
  EXPECT_EQ(shared_memory_files(), before);
}

TEST_F(Kill, of_a_process_is_named_before_what_others_do_because_of_it) {
  for (int i = 0; i < 5 && !HasFailure(); ++i) kill_one(3, "mourned", 1);
}

TEST(Headless, process_does_not_keep_the_launcher_from_ending_a_job) {
  alarm(kPatience);
  const auto result = Program({kSplitcrun, "-n", "3", kVictim, "headless"}).finish();
  alarm(0);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.starts_with("splitcrun: rank 1 (pid ")) << result.err;
  EXPECT_NE(result.err.find(") exited with code 3; ending the other 2 processes"),
            std::string::npos)
      << result.err;
}

}  // namespace kills
