// A process is killed in the middle of a transfer between nodes, or leaves: the job ends soon, says
// whom it lost, and leaves nothing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "tests/jobs/far_jobs.h"
#include "tests/support/seed.h"

namespace am::test {
namespace far_kill {

constexpr unsigned kPatience = 30;  // seconds after which a job that does not end fails the test

struct Way {
  const char* transfer;
  const char* provider;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.transfer << " " << way.provider; }

class FarKill : public testing::TestWithParam<Way> {
 protected:
  // Orphans of the jobs become children of this process, so that it sees them.
  static void SetUpTestSuite() { ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void SetUp() override {
    alarm(kPatience);
    files_ = shared_memory_files();
  }
  void TearDown() override {
    EXPECT_TRUE(waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD) << "a process is left";
    EXPECT_EQ(shared_memory_files(), files_);
    alarm(0);
  }

  // Any of `processes` but the first `spared`, after some time.
  std::pair<int, pid_t> kill_one(const std::map<int, pid_t>& processes, int spared = 0) {
    let_pass(random_);
    const auto count = static_cast<int>(processes.size()) - spared;
    const auto victim = std::next(processes.begin(), spared + static_cast<int>(random_() % count));
    EXPECT_EQ(kill(victim->second, SIGKILL), 0);
    return *victim;
  }

  std::mt19937_64 random_{::test::seed() + std::hash<std::string>()(GetParam().transfer)};
  std::set<std::string> files_;
};

TEST_P(FarKill, ends_a_job_of_splitcrun) {
  const int size = 2 + static_cast<int>(random_() % 3);
  SCOPED_TRACE(std::to_string(size) + " processes");
  Program job(on_two_nodes(size, GetParam().provider, {kFarVictim, GetParam().transfer}));
  const auto processes = pids_in(job.wait_for_lines(size));
  ASSERT_EQ(processes.size(), static_cast<std::size_t>(size)) << job.finish().err;
  const auto [rank, pid] = kill_one(processes);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  const std::string sentence = "splitcrun: rank " + std::to_string(rank) + " (pid " +
                               std::to_string(pid) + ") was killed by signal 9 (Killed)";
  EXPECT_TRUE(result.err.starts_with(sentence)) << result.err;
  expect_gone(processes);
}

TEST_P(FarKill, ends_a_job_that_no_launcher_started) {
  Meeting job(GetParam().provider, {kFarVictim, GetParam().transfer});
  std::map<int, pid_t> processes;
  for (int rank = 0; rank < Meeting::kSize; ++rank) {
    processes.merge(pids_in(job[rank].wait_for_lines(1)));
  }
  ASSERT_EQ(processes.size(), 3u) << job[0].finish().err << job[1].finish().err;
  const int lost = kill_one(processes).first;
  for (int rank = 0; rank < Meeting::kSize; ++rank) {
    const auto result = job[rank].finish();
    if (rank == lost) continue;
    EXPECT_NE(result.exit_code, 0) << "rank " << rank;
    EXPECT_NE(result.err.find("rank " + std::to_string(lost)), std::string::npos)
        << "rank " << rank << " does not name rank " << lost << ": " << result.err;
  }
  expect_gone(processes);
}

INSTANTIATE_TEST_SUITE_P(
    InTheMiddleOf, FarKill,
    testing::Values(Way{"short", "net"}, Way{"medium", "tcp;ofi_rxm"}, Way{"long", "net"},
                    Way{"long", "tcp;ofi_rxm"}, Way{"get", "net"}, Way{"get", "sockets"},
                    Way{"put", "tcp;ofi_rxm"}, Way{"put", "net"}, Way{"store", "net"},
                    Way{"store", "tcp;ofi_rxm"}, Way{"channel", "net"}, Way{"channel", "sockets"},
                    Way{"zero_copy", "net"}, Way{"zero_copy", "tcp;ofi_rxm"}, Way{"barrier", "net"},
                    Way{"barrier", "tcp;ofi_rxm"}, Way{"blocked", "net"},
                    Way{"short", "udp;ofi_rxd"}),
    [](const auto& info) {
      std::string name = std::string(info.param.transfer) + "_" + info.param.provider;
      for (char& c : name) c = c == ';' ? '_' : c;
      return name;
    });

TEST(FarLeave, before_the_end_is_an_error) {
  alarm(kPatience);
  const auto result = run(on_two_nodes(3, "net", {kFarVictim, "leaves"}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("rank 1"), std::string::npos) << result.err;
  expect_gone(pids_in(result.out));
}

TEST(FarLeave, before_the_end_is_an_error_without_a_launcher) {
  alarm(kPatience);
  Meeting job("net", {kFarVictim, "leaves"});
  for (const int rank : {0, 2}) {
    const auto result = job[rank].finish();
    EXPECT_NE(result.exit_code, 0) << "rank " << rank;
    EXPECT_NE(result.err.find("rank 1"), std::string::npos)
        << "rank " << rank << ": " << result.err;
  }
}

}  // namespace far_kill
}  // namespace am::test
