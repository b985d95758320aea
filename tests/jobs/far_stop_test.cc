// A process between nodes is stopped for a while: nothing is lost. Or for good: --timeout ends the
// job.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "tests/jobs/far_jobs.h"
#include "tests/support/seed.h"

namespace am::test {
namespace far_stop {

constexpr unsigned kPatience = 60;  // seconds after which a job that does not end fails the test

class FarStop : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { alarm(kPatience); }
  void TearDown() override { alarm(0); }

  std::mt19937_64 random_{::test::seed()};
};

TEST_P(FarStop, for_a_while_loses_nothing) {
  constexpr int kSize = 3;
  Program job(on_two_nodes(kSize, GetParam(), {kFarVictim, "counted"}));
  const auto processes = pids_in(job.wait_for_lines(kSize));
  ASSERT_EQ(processes.size(), static_cast<std::size_t>(kSize)) << job.finish().err;
  for (int i = 0; i < 6; ++i) {
    const pid_t pid = processes.at(static_cast<int>(random_() % kSize));
    kill(pid, SIGSTOP);  // it may have ended already
    let_pass(random_);
    let_pass(random_);
    kill(pid, SIGCONT);
    let_pass(random_);
  }
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_gone(processes);
}

TEST_P(FarStop, for_good_ends_with_a_timeout) {
  Words words = on_two_nodes(2, GetParam(), {kFarVictim, "short"});
  words.insert(words.begin() + 3, {"--timeout", "3"});
  Program job(words);
  const auto processes = pids_in(job.wait_for_lines(2));
  ASSERT_EQ(processes.size(), 2u) << job.finish().err;
  kill(processes.at(static_cast<int>(random_() % 2)), SIGSTOP);
  const auto result = job.finish();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("--timeout"), std::string::npos) << result.err;
  expect_gone(processes);
}

INSTANTIATE_TEST_SUITE_P(Over, FarStop, testing::Values("net", "tcp;ofi_rxm", "sockets"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == ';' ? '_' : c;
                           return name;
                         });

}  // namespace far_stop
}  // namespace am::test
