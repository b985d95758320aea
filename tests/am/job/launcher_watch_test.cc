// The processes of splitcrun itself and those of the job: killed, stopped, started with little.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <random>
#include <string>

#include "tests/am/job/splitcrun.h"
#include "tests/support/text.h"

namespace am {
namespace {

using ::test::count_of;
using ::test::expect_contains;
using test::kLaunched;
using test::kSplitcrun;
using test::launched;
using test::lines_of;
using test::processes_of;
using test::Program;
using test::run;
using test::splitcrun;
using test::supervisor_of;
using test::Words;

// Processes that stay, and others that are no children of theirs any more. finish() waits for the
// pipes of all of them, so it would not return if one of them were left.
const Words kStaying = {"sh", "-c", "setsid sleep 1000 & echo up; sleep 1000"};

Words staying(int size) {
  Words words = {"-n", std::to_string(size)};
  words.insert(words.end(), kStaying.begin(), kStaying.end());
  return splitcrun(std::move(words));
}

TEST(Supervisor, that_is_killed_is_named_and_takes_everything_along) {
  Program job(staying(3));
  job.wait_for_lines(3);
  const pid_t supervisor = supervisor_of(job);
  kill(supervisor, SIGKILL);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  expect_contains(result.err, {"splitcrun: its process " + std::to_string(supervisor),
                               "was killed by signal 9 (Killed), so the job has ended"});
}

TEST(Supervisor, that_is_killed_at_any_moment_leaves_nothing) {
  std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
  for (int round = 0; round < 12; ++round) {
    Program job(staying(4));
    const pid_t supervisor = supervisor_of(job);
    // Before, while and after its processes start.
    if (round % 3 == 1) processes_of(job, 1 + random() % 4);
    if (round % 3 == 2) job.wait_for_lines(1 + static_cast<int>(random() % 4));
    kill(supervisor, SIGKILL);
    EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  }
}

TEST(Supervisor, that_is_stopped_says_so_and_still_obeys) {
  Program job(staying(2));
  job.wait_for_lines(2);
  const pid_t supervisor = supervisor_of(job);
  kill(supervisor, SIGSTOP);
  expect_contains(job.wait_for_error("kill -CONT"),
                  {"its process " + std::to_string(supervisor), "is stopped", "no timeout"});
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGTERM);
}

TEST(Guard, that_is_killed_takes_everything_along_even_if_the_other_is_stopped) {
  Program job(staying(3));
  job.wait_for_lines(3);
  kill(supervisor_of(job), SIGSTOP);
  job.wait_for_error("is stopped");
  job.signal(SIGKILL);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  expect_contains(result.err, {"splitcrun itself was killed"});
}

TEST(Guard, that_is_killed_at_any_moment_leaves_nothing) {
  std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
  for (int round = 0; round < 12; ++round) {
    Program job(staying(4));
    if (round % 4 == 1) supervisor_of(job);
    if (round % 4 == 2) processes_of(job, 1 + random() % 4);
    if (round % 4 == 3) job.wait_for_lines(1 + static_cast<int>(random() % 4));
    job.signal(SIGKILL);
    EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  }
}

TEST(Guard, that_is_killed_while_nobody_reads_the_output_leaves_nothing) {
  Program job(splitcrun({"-n", "2", "--label", "sh", "-c", "echo up >&2; exec yes"}));
  job.wait_for_error("[1] up");
  const pid_t supervisor = supervisor_of(job);
  job.signal(SIGKILL);
  test::wait_until_ended(supervisor);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
}

TEST(Guard, keeps_the_children_that_it_had_before) {
  // A shell that has one, and becomes splitcrun.
  Program job(
      {"sh", "-c", "sleep 1000 & echo $!; exec " + std::string(kSplitcrun) + " -n 1 sleep 1000"});
  const pid_t before = std::stoi(job.wait_for_lines(1));
  const auto both = test::wait_for_children(job.pid(), 2);
  kill(both.at(0) == before ? both.at(1) : both.at(0), SIGKILL);
  job.wait_for_error("was killed by signal 9");
  EXPECT_EQ(kill(before, 0), 0);
  kill(before, SIGKILL);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
}

TEST(Stopped, process_is_said_once_and_that_it_goes_on) {
  Program job(launched(3, {"hang"}));
  job.wait_for_lines(3);
  const pid_t pid = processes_of(job, 3).at(1);
  const std::string who = "splitcrun: rank 1 (pid " + std::to_string(pid) + ") ";
  kill(pid, SIGSTOP);
  kill(pid, SIGSTOP);
  job.wait_for_error(who + "is stopped by signal 19");
  kill(pid, SIGCONT);
  job.wait_for_error(who + "goes on");
  kill(pid, SIGSTOP);
  kill(pid, SIGKILL);  // what is stopped can be killed
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(count_of(result.err, who + "goes on"), 1u) << result.err;
  EXPECT_LE(count_of(result.err, "is stopped by"), 2u) << result.err;
  expect_contains(result.err, {"kill -CONT " + std::to_string(pid)});
}

TEST(Stopped, process_is_ended_with_the_others) {
  Program job(launched(3, {"hang"}));
  job.wait_for_lines(3);
  const auto pids = processes_of(job, 3);
  kill(pids.at(0), SIGSTOP);
  job.wait_for_error("is stopped");
  kill(pids.at(2), SIGKILL);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
}

TEST(Stopped, process_obeys_a_signal_to_splitcrun) {
  Program job(splitcrun({"-n", "1", "sh", "-c", "echo up; exec sleep 1000"}));
  job.wait_for_lines(1);
  kill(processes_of(job, 1).at(0), SIGSTOP);
  job.wait_for_error("is stopped");
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().exit_code, 128 + SIGTERM);
}

TEST(Stopped, process_that_a_rank_has_left_behind_does_not_keep_the_job) {
  const auto result =
      run(splitcrun({"-n", "2", "sh", "-c", "setsid sh -c 'kill -STOP $$' & exit 0"}));
  EXPECT_EQ(result.exit_code, 0);
}

TEST(End, finds_processes_of_any_name) {
  const auto result = run(launched(2, {"leave_behind", "x)\n S 1"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

// Of a line "SigIgn:\t0000000180001000": a bit for each signal that programs know.
unsigned long signals_shown_by(const std::string& command) {
  const std::string line = run({"sh", "-c", command}).out;
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return ~0ul;
  return std::stoul(line.substr(colon + 1), nullptr, 16) & 0x7fffffff;
}

TEST(Start, gives_processes_the_limits_and_signals_of_splitcrun) {
  const std::string splitcrun = kSplitcrun;
  EXPECT_EQ(run({"sh", "-c", "ulimit -Sn 100; " + splitcrun + " -n 1 sh -c 'ulimit -Sn'"}).out,
            "100\n");
  for (const char* before : {"", "trap '' PIPE XFSZ; "}) {
    for (const char* kind : {"SigIgn", "SigBlk"}) {
      const std::string show = std::string("grep ") + kind + " /proc/self/status";
      EXPECT_EQ(signals_shown_by(before + splitcrun + " -n 1 " + show),
                signals_shown_by(before + show));
    }
  }
}

TEST(Start, has_pipes_for_many_processes_whatever_the_soft_limit) {
  const auto result =
      run({"sh", "-c", "ulimit -Sn 40; " + std::string(kSplitcrun) + " -n 64 --label echo x"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 64u);
}

TEST(Start, works_without_PATH_and_without_any_variable) {
  const auto result = run({"env", "-i", kSplitcrun, "-n", "2", "sh", "-c", "echo $SPLITC_SIZE"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "2\n2\n");
}

TEST(Start, passes_long_lists_of_arguments_on) {
  Words words = {"-n", "2", "sh", "-c", "echo $# ${#1}", "name"};
  words.insert(words.end(), 10, std::string(100'000, 'x'));
  EXPECT_EQ(run(splitcrun(words)).out, "10 100000\n10 100000\n");
}

TEST(Start, gives_each_variable_once) {
  const auto result = run({"env", "SPLITC_SIZE=7", "SPLITC_RANK=5", "SPLITC_RENDEZVOUS=x:1",
                           "SPLITC_SECRET=12345678", kSplitcrun, "-n", "1", "sh", "-c",
                           "env | grep -c ^SPLITC_SIZE="});
  EXPECT_EQ(result.out, "1\n") << result.err;
}

}  // namespace
}  // namespace am
