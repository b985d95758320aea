// The same binaries under the launchers that clusters have, and with none: Open MPI's mpirun,
// MPICH's mpiexec.hydra, srun beside a Slurm of the test's own, and a rendezvous.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/free_port.h"
#include "tests/support/text.h"

namespace launch {

using am::test::lines_of;
using am::test::Program;
using am::test::run;
using test::expect_contains;
using Words = std::vector<std::string>;

constexpr const char* kLaunched = "tests/am/job/launched";
constexpr const char* kMany = "tests/jobs/many";
constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kExamples = "tests/jobs/launch_examples.sh";
constexpr const char* kNester = "tests/jobs/nester";
constexpr const char* kVictim = "tests/jobs/victim";
constexpr const char* kChecker = "tests/am/trace/check_trace.py";
constexpr const char* kSlurm = "tests/jobs/launch_private_slurm.sh";
constexpr unsigned kPatience = 200;  // seconds after which a job that does not end fails the test
constexpr const char* kEveryExample =
    "hello_am\nhello_splitc\nping_pong\nsample_sort\ncomponents\nem3d\n";
constexpr const char* kRanks = "rank 0 of 3\nrank 1 of 3\nrank 2 of 3\n";

std::string sorted_lines(const std::string& text) {
  Words lines = lines_of(text);
  std::ranges::sort(lines);
  std::string sorted;
  for (const std::string& line : lines) sorted += line + "\n";
  return sorted;
}

// What each process of a victim printed: its pid, by rank.
std::map<int, pid_t> pids_in(const std::string& output) {
  std::map<int, pid_t> pids;
  for (const std::string& line : lines_of(output)) {
    int rank = 0;
    pid_t pid = 0;
    if (std::istringstream(line) >> rank >> pid) pids[rank] = pid;
  }
  return pids;
}

// A launcher hands on what processes print, so that its end is not yet theirs.
void wait_until_gone(pid_t pid) {
  while (kill(pid, 0) == 0 || errno != ESRCH) poll(nullptr, 0, 10);
}

class Patient : public testing::Test {
 protected:
  void SetUp() override { alarm(kPatience); }
  void TearDown() override { alarm(0); }
};

// One for all cases, from the first that asks for it to the end of the program: beginning and
// ending takes seconds.
class Slurm : public testing::Environment {
 public:
  // Whether it has come up. If it does not on this machine, that is no fault of what is tested.
  static bool is_up() {
    if (!daemons) {
      daemons = std::make_unique<Program>(
          Words{kSlurm, "sh", "-c", "echo SLURM_CONF=$SLURM_CONF; exec sleep infinity"});
      static std::string setting = lines_of(daemons->wait_for_lines(1) + "\n").front();
      if (!setting.empty()) putenv(setting.data());
    }
    return getenv("SLURM_CONF") != nullptr;
  }
  void TearDown() override {
    if (!daemons) return;
    daemons->signal(SIGTERM);
    daemons->finish();
    daemons.reset();
  }

 private:
  static inline std::unique_ptr<Program> daemons;
};
const auto* const slurm = testing::AddGlobalTestEnvironment(new Slurm);

struct Launcher {
  std::string name;
  Words words;       // before the number of processes
  std::string asks;  // a command that succeeds where this launcher is
  bool tells_code;   // always exits as the process that aborted
};
void PrintTo(const Launcher& launcher, std::ostream* out) { *out << launcher.name; }

const Launcher kLaunchers[] = {
    {"mpirun",
     {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"},
     "command -v mpirun.openmpi",
     false},
    {"mpiexec", {"mpiexec.hydra", "-n"}, "command -v mpiexec.hydra", true},
    {"srun_pmix", {"srun", "--overcommit", "--mpi=pmix", "-n"}, "command -v srun", false},
    // Its PMI does not notice deaths, hence -K.
    {"srun_pmi2", {"srun", "--overcommit", "--mpi=pmi2", "-K", "-n"}, "command -v srun", false},
};

class Launch : public Patient, public testing::WithParamInterface<Launcher> {
 protected:
  void SetUp() override {
    Patient::SetUp();
    if (run({"sh", "-c", GetParam().asks}).exit_code == 0 && (!is_slurm() || Slurm::is_up()))
      return;
    GTEST_SKIP() << "skipped: no " << GetParam().words[0] << " here";
  }

  Words launched(int processes, const Words& command) const {
    Words words = GetParam().words;
    words.push_back(std::to_string(processes));
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }

  bool is_slurm() const { return GetParam().words[0] == "srun"; }
};

TEST_P(Launch, starts_every_rank) {
  const auto result = run(launched(3, {kLaunched, "finish", "99"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out), kRanks) << result.err;
}

TEST_P(Launch, starts_one_rank) {
  const auto result = run(launched(1, {kLaunched, "finish", "99"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "rank 0 of 1\n") << result.err;
}

TEST_P(Launch, exchanges_again_and_again) {
  const auto result = run(launched(3, {kLaunched, "blobs", "20"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out), kRanks) << result.err;
}

TEST_P(Launch, carries_messages) {
  const auto result = run(launched(4, {kMany}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 4u) << result.out << result.err;
}

TEST_P(Launch, a_job_leaves_a_trace_in_which_all_messages_have_both_ends) {
  const std::string file = testing::TempDir() + "launch_" + GetParam().name + ".json";
  const auto job = run(launched(4, {"env", "SPLITC_TRACE=" + file, kMany}));
  EXPECT_EQ(job.exit_code, 0) << job.err;
  if (run({"sh", "-c", "command -v python3"}).exit_code != 0) {
    GTEST_SKIP() << "skipped: there is no python3, which checks traces";
  }
  const auto checked = run({"python3", kChecker, file, "4"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_NE(checked.out.find(", 16 arrows, "), std::string::npos) << checked.out;
}

// On two nodes of two processes. tests/examples has all other shapes.
TEST_P(Launch, runs_every_example) {
  Words words = GetParam().words;
  words.insert(words.begin(), {kExamples, "2"});
  const auto result = run(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, kEveryExample);
}

TEST_P(Launch, abort_says_its_sentence_and_ends_all) {
  const auto result = run(launched(3, {kLaunched, "abort", "1", "7"}));
  if (GetParam().tells_code) {
    EXPECT_EQ(result.exit_code, 7) << result.err;
  } else {
    EXPECT_NE(result.exit_code, 0) << result.err;
  }
  expect_contains(result.err, {"rank 1: no more room"});
}

TEST_P(Launch, death_while_others_meet_ends_all) {
  const auto result = run(launched(3, {kLaunched, "raise", "1", "9"}));
  EXPECT_NE(result.exit_code, 0) << result.err;
}

// Some launchers take the exit code 0 of one process for the success of all, now and then.
TEST_P(Launch, leaving_with_0_before_the_end_is_said_and_is_no_success) {
  for (const char* how : {"leave", "quick_leave"}) {
    for (int time = 0; time < (is_slurm() ? 1 : 5); ++time) {
      const auto result = run(launched(3, {kLaunched, how, "1"}));
      EXPECT_NE(result.exit_code, 0) << how;
      expect_contains(result.err, {"rank 1: left"});
      expect_contains(result.err, {"before it had finished the job"});
    }
  }
}

TEST_P(Launch, a_program_that_a_rank_starts_is_told_that_it_is_no_rank) {
  const auto result = run(launched(2, {kNester, kMany}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "it exited with 1\n");
  expect_contains(result.err, {"is no rank of a job", "which is rank 0, has started it"});
}

TEST_P(Launch, a_job_that_a_rank_starts_is_one_of_its_own) {
  const auto result = run(launched(2, {kNester, std::string(kSplitcrun) + " -n 3 " + kMany}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            "it exited with 0\nrank 0 has all words\nrank 1 has all words\nrank 2 has all words\n");
}

// Also where the job around it is one of one process. (Open MPI's mpirun refuses to run in itself.)
TEST_F(Patient, a_launcher_that_a_rank_starts_has_a_job_of_its_own) {
  const Launcher& mpirun = kLaunchers[0];
  const Launcher& hydra = kLaunchers[1];
  for (const Launcher* const one : {&mpirun, &hydra}) {
    if (run({"sh", "-c", one->asks}).exit_code != 0) GTEST_SKIP() << "no " << one->name << " here";
  }
  const auto expect_own_job = [](Words around, const Words& within, const char* processes) {
    std::string command;
    for (const std::string& word : within) command += word + " ";
    around.insert(around.end(), {processes, kNester, command + "3 " + kMany});
    const auto result = run(around);
    const std::string what = around[0] + " -n " + processes + ", " + command + ": " + result.err;
    EXPECT_EQ(result.exit_code, 0) << what;
    EXPECT_EQ(sorted_lines(result.out),
              "it exited with 0\nrank 0 has all words\nrank 1 has all words\nrank 2 has all "
              "words\n")
        << what;
  };
  for (const char* const processes : {"1", "2"}) {
    expect_own_job({kSplitcrun, "-n"}, mpirun.words, processes);
    expect_own_job({kSplitcrun, "-n"}, hydra.words, processes);
    expect_own_job(mpirun.words, hydra.words, processes);
    expect_own_job(hydra.words, mpirun.words, processes);
  }
}

// The other process of the launcher is none of the job.
TEST_P(Launch, a_job_that_does_not_start_says_what_it_waits_for_and_ends) {
  const std::string script =
      "if [ ${PMIX_RANK:-$PMI_RANK} = 0 ]; then exec " + std::string(kMany) + "; fi; sleep 1000";
  const auto result =
      run(launched(2, {"env", "SPLITC_STALL=0.5", "SPLITC_START_LIMIT=1", "sh", "-c", script}));
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {"the job has not started within 0.5 s", "waits for", "so it ends"});
}

TEST_P(Launch, death_of_one_ends_all) {
  Program job(launched(3, {kVictim, "barriers"}));
  const auto pids = pids_in(job.wait_for_lines(3));
  if (pids.size() < 3) {
    const auto result = job.finish();
    FAIL() << result.out << result.err;
  }
  EXPECT_EQ(kill(pids.at(1), SIGKILL), 0);
  const auto result = job.finish();
  EXPECT_NE(result.exit_code, 0);
  for (const auto& [rank, pid] : pids) wait_until_gone(pid);
}

TEST_P(Launch, death_of_the_launcher_ends_all) {
  if (is_slurm()) GTEST_SKIP() << "Slurm's daemons, and not srun, have the processes";
  Program job(launched(3, {kVictim, "barriers"}));
  const auto pids = pids_in(job.wait_for_lines(3));
  ASSERT_EQ(pids.size(), 3u);
  job.signal(SIGKILL);
  for (const auto& [rank, pid] : pids) wait_until_gone(pid);
}

INSTANTIATE_TEST_SUITE_P(By, Launch, testing::ValuesIn(kLaunchers),
                         [](const auto& info) { return info.param.name; });

TEST_F(Patient, srun_without_mpi_is_told_what_to_write) {
  if (!Slurm::is_up()) GTEST_SKIP() << "skipped: no srun here";
  const auto result = run({"srun", "--overcommit", "--mpi=none", "-n", "2", kLaunched, "finish"});
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {"start it with srun --mpi=pmix or srun --mpi=pmi2"});
  EXPECT_EQ(result.out, "");
}

TEST_F(Patient, a_program_that_a_rank_of_splitcrun_starts_is_told_that_it_is_no_rank) {
  const auto result = run({kSplitcrun, "-n", "2", kNester, kMany});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "it exited with 1\n");
  expect_contains(result.err, {"is no rank of a job", "which is rank 0, has started it"});
}

TEST_F(Patient, srun_across_its_nodes_runs_every_example) {
  constexpr int kNoSlurm = 77;  // the script's exit code when there is none
  for (const char* mpi : {"--mpi=pmix", "--mpi=pmi2"}) {
    const auto result =
        run({kSlurm, "-N", "2", kExamples, "2", "srun", "--overcommit", mpi, "-N", "2", "-n"});
    if (result.exit_code == kNoSlurm) GTEST_SKIP() << result.err;
    EXPECT_EQ(result.exit_code, 0) << mpi << ": " << result.err;
    EXPECT_EQ(result.out, kEveryExample) << mpi;
  }
}

TEST_F(Patient, splitcrun_within_srun_is_splitcrun) {
  if (!Slurm::is_up()) GTEST_SKIP() << "skipped: no srun here";
  const auto result = run({"srun", "--overcommit", "--mpi=none", "-n", "2", kSplitcrun, "-n", "3",
                           kLaunched, "finish", "99"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(sorted_lines(result.out),
            "rank 0 of 3\nrank 0 of 3\nrank 1 of 3\nrank 1 of 3\nrank 2 of 3\nrank 2 of 3\n");
}

class Rendezvous : public Patient {
 protected:
  void SetUp() override {
    Patient::SetUp();
    port_ = test::free_port();
  }

  // Starts one process of a job of 3.
  std::unique_ptr<Program> start(int rank, Words command) const {
    command.insert(command.begin(), {"env", "SPLITC_RENDEZVOUS=localhost:" + std::to_string(port_),
                                     "SPLITC_SECRET=known to the test", "SPLITC_SIZE=3",
                                     "SPLITC_RANK=" + std::to_string(rank)});
    return std::make_unique<Program>(command);
  }

  // The others first, so that they have to look for rank 0 more than once.
  std::vector<std::unique_ptr<Program>> start_all(const Words& command) const {
    std::vector<std::unique_ptr<Program>> all(3);
    for (const int rank : {2, 1, 0}) all[rank] = start(rank, command);
    return all;
  }

 private:
  int port_ = 0;
};

TEST_F(Rendezvous, starts_every_rank) {
  const auto job = start_all({kLaunched, "finish", "99"});
  for (int rank = 0; rank < 3; ++rank) {
    const auto result = job[rank]->finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, "rank " + std::to_string(rank) + " of 3\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Rendezvous, carries_messages) {
  for (const auto& process : start_all({kMany})) {
    const auto result = process->finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Rendezvous, a_program_that_a_rank_starts_is_told_that_it_is_no_rank) {
  const auto job = start_all({kNester, kMany});
  const auto result = job[0]->finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "it exited with 1\n");
  expect_contains(result.err, {"is no rank of a job", "which is rank 0, has started it"});
  for (const int other : {1, 2}) EXPECT_EQ(job[other]->finish().exit_code, 0);
}

TEST_F(Rendezvous, death_of_any_ends_all_and_is_named) {
  for (int victim = 0; victim < 3; ++victim) {
    const auto job = start_all({kVictim, "barriers"});
    for (const auto& process : job) process->wait_for_lines(1);
    job[victim]->signal(SIGKILL);
    for (int rank = 0; rank < 3; ++rank) {
      const auto result = job[rank]->finish();
      EXPECT_EQ(result.exit_code, rank == victim ? 128 + SIGKILL : 1);
      if (rank == victim) continue;
      expect_contains(result.err, {"rank " + std::to_string(rank) + ": the job ends: rank " +
                                   std::to_string(victim) + " has died"});
    }
  }
}

TEST_F(Rendezvous, leaving_with_0_before_the_end_is_told_everywhere_and_is_no_success) {
  for (int who = 0; who < 3; ++who) {
    for (const char* how : {"leave", "quick_leave"}) {
      const auto job = start_all({kLaunched, how, std::to_string(who)});
      for (const auto& process : job) {
        const auto result = process->finish();
        EXPECT_EQ(result.exit_code, 1);
        expect_contains(result.err, {"rank " + std::to_string(who) + ": left "});
      }
    }
  }
}

TEST_F(Rendezvous, abort_of_one_whose_words_nobody_reads_ends_all) {
  const Words abort = {kLaunched, "abort", "1", "7"};
  const auto zero = start(0, abort);
  // Its standard error is a pipe that is full.
  const auto one = start(1, {"sh", "-c", "head -c 65536 /dev/zero >&2; exec \"$@\"", "sh",
                             kLaunched, "abort", "1", "7"});
  EXPECT_EQ(start(2, abort)->finish().exit_code, 7);
  EXPECT_EQ(zero->finish().exit_code, 7);
  EXPECT_EQ(one->wait_unread(), 7);
}

TEST_F(Rendezvous, abort_of_any_is_told_everywhere) {
  for (int who = 0; who < 3; ++who) {
    const auto job = start_all({kLaunched, "abort", std::to_string(who), "7"});
    for (const auto& process : job) {
      const auto result = process->finish();
      EXPECT_EQ(result.exit_code, 7);
      expect_contains(result.err, {"rank " + std::to_string(who) + ": no more room"});
    }
  }
}

}  // namespace launch
