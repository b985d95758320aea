#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "shmem/node.h"
#include "tests/am/job/splitcrun.h"
#include "tests/support/text.h"

namespace am {
namespace {

using ::test::expect_contains;
using test::kLaunched;
using test::kSplitcrun;
using test::launched;
using test::lines_of;
using test::Program;
using test::run;
using test::sorted_lines;
using test::splitcrun;
using test::Words;

void expect_refused(const Words& command, int exit_code, std::initializer_list<std::string> parts) {
  const auto result = run(command);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  EXPECT_TRUE(result.err.starts_with("splitcrun: ")) << result.err;
  expect_contains(result.err, parts);
}

TEST(Splitcrun, starts_every_rank_and_says_nothing_itself) {
  const auto result = run(launched(5, {"finish"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(sorted_lines(result.out),
            (Words{"rank 0 of 5", "rank 1 of 5", "rank 2 of 5", "rank 3 of 5", "rank 4 of 5"}));
}

TEST(Splitcrun, starts_sixty_four_processes) {
  const auto result = run(launched(64, {"finish"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 64u);
}

TEST(Splitcrun, runs_programs_that_know_nothing_of_it) {
  const auto result = run(splitcrun({"-n", "3", "echo", "--label", "-n3"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "--label -n3\n--label -n3\n--label -n3\n");
  EXPECT_EQ(result.err, "");
}

TEST(Splitcrun, double_dash_ends_its_options) {
  EXPECT_EQ(run(splitcrun({"-n", "1", "--", "echo", "--", "x"})).out, "-- x\n");
}

TEST(Splitcrun, launched_program_is_alone_without_it) {
  EXPECT_EQ(run({kLaunched, "finish"}).out, "rank 0 of 1\n");
}

TEST(Splitcrun, gives_standard_input_to_rank_0_only) {
  EXPECT_EQ(run(splitcrun({"-n", "3", "cat"}), "typed\n").out, "typed\n");
}

TEST(Death, by_signal_is_named_and_becomes_the_exit_code) {
  const auto result = run(launched(4, {"raise", "2", "9"}));
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  ASSERT_EQ(lines_of(result.err).size(), 1u) << result.err;
  expect_contains(result.err, {"splitcrun: rank 2 (pid ",
                               ") was killed by signal 9 (Killed); ending the other 3 processes"});
}

TEST(Death, by_exit_code_is_named_and_becomes_the_exit_code) {
  const auto result = run(launched(2, {"exit", "1", "77"}));
  EXPECT_EQ(result.exit_code, 77);
  expect_contains(result.err, {"rank 1", "exited with code 77; ending the other process"});
}

TEST(Death, of_the_only_process_ends_nobody_else) {
  const auto result = run(splitcrun({"-n", "1", "false"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.err.ends_with("exited with code 1\n")) << result.err;
}

TEST(Death, by_abort_prints_its_sentence) {
  const auto result = run(launched(3, {"abort", "1", "5"}));
  EXPECT_EQ(result.exit_code, 5);
  expect_contains(result.err, {"ended the job: rank 1: no more room; ending the other"});
}

TEST(Death, leaving_with_0_while_others_wait_is_an_error) {
  const auto result = run(launched(3, {"leave", "2"}));
  EXPECT_EQ(result.exit_code, 1);
  expect_contains(result.err, {"rank 2", "left with exit code 0 before it had finished"});
}

TEST(Death, leaving_with_0_is_an_error_also_if_all_do) {
  for (const int processes : {1, 3}) {
    const auto result = run(launched(processes, {"leave_all"}));
    EXPECT_EQ(result.exit_code, 1) << processes;
    expect_contains(result.err, {"left with exit code 0 before it had finished the job"});
    EXPECT_EQ(result.err.find("need it") != std::string::npos,
              result.err.find("ending") != std::string::npos)
        << "nobody needs it who has left, too: " << result.err;
  }
}

TEST(Death, leaving_without_ever_joining_is_an_error_for_those_who_did) {
  const auto result = run(launched(3, {"absent", "1"}));
  EXPECT_NE(result.exit_code, 0);
  // Whether it left before the others joined is chance: then they say it, else splitcrun does.
  expect_contains(result.err, {"rank 1", "left with exit code 0 before "});
}

TEST(Death, of_any_rank_at_any_moment_ends_all_and_names_it) {
  std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
  for (int round = 0; round < 8; ++round) {
    Program job(launched(4, {"hang"}));
    const int printed = std::uniform_int_distribution(1, 4)(random);
    const Words pids = lines_of(job.wait_for_lines(printed));
    const std::string& victim = pids[random() % pids.size()];
    kill(std::stoi(victim), SIGKILL);
    const auto result = job.finish();
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    expect_contains(result.err, {"(pid " + victim + ") was killed by signal 9", "other 3"});
  }
}

TEST(Death, takes_grandchildren_along_even_in_sessions_of_their_own) {
  // finish() waits for the pipes of all of them, so it would not return if one stayed.
  const auto result = run(splitcrun({"-n", "2", "sh", "-c",
                                     "trap '' TERM; setsid sleep 1000 & sleep 1000 & "
                                     "[ $SPLITC_RANK = 1 ] && exit 3; wait"}));
  EXPECT_EQ(result.exit_code, 3);
}

TEST(End, leaves_no_process_behind_when_all_is_well) {
  const auto result = run(splitcrun({"-n", "2", "sh", "-c", "setsid sleep 1000 & exit 0"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST(End, of_a_killed_splitcrun_takes_everything_along) {
  for (int ready = 0; ready <= 4; ++ready) {
    Program job(splitcrun(
        {"-n", "4", "sh", "-c", std::string("setsid sleep 1000 & ") + kLaunched + " hang"}));
    job.wait_for_lines(ready);
    job.signal(SIGKILL);
    EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  }
}

TEST(End, timeout_ends_the_job) {
  const auto result = run(splitcrun({"-n", "2", "--timeout", "0.2", "sleep", "1000"}));
  EXPECT_EQ(result.exit_code, 124);
  expect_contains(result.err, {"did not end in time (--timeout); ending its 2 processes"});
}

class Forwarded : public testing::TestWithParam<int> {};

TEST_P(Forwarded, signal_reaches_every_process) {
  Program job(launched(3, {"wait", std::to_string(GetParam())}));
  job.wait_for_lines(3);
  job.signal(GetParam());
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Words lines = lines_of(result.out);
  EXPECT_EQ(std::ranges::count(lines, "got " + std::to_string(GetParam())), 3) << result.out;
}

INSTANTIATE_TEST_SUITE_P(Splitcrun, Forwarded,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2));

TEST(Death, by_a_forwarded_signal_becomes_the_exit_code) {
  Program job(splitcrun({"-n", "2", "sh", "-c", "echo ready; exec sleep 1000"}));
  job.wait_for_lines(2);
  job.signal(SIGTERM);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  expect_contains(result.err, {"was killed by signal 15 (Terminated)"});
}

TEST(Nodes, are_blocks_of_ranks_as_equal_as_possible) {
  const auto nodes_of = [](Words options) {
    options.insert(options.end(), {"sh", "-c", "echo $SPLITC_RANK $SPLITC_NODE"});
    return sorted_lines(run(splitcrun(std::move(options))).out);
  };
  EXPECT_EQ(nodes_of({"-n", "5", "--nodes", "2"}), (Words{"0 0", "1 0", "2 0", "3 1", "4 1"}));
  EXPECT_EQ(nodes_of({"-n", "3", "--nodes", "3"}), (Words{"0 0", "1 1", "2 2"}));
  EXPECT_EQ(nodes_of({"-n", "2", "--nodes", "1"}), (Words{"0 0", "1 0"}));
  EXPECT_EQ(nodes_of({"-n", "2"}), (Words{"0", "1"})) << "not pretended";
}

TEST(Usage, numbers_of_nodes_that_are_none_are_refused) {
  expect_refused(splitcrun({"-n", "2", "--nodes", "0", "true"}), 2, {"--nodes 0", "at least 1"});
  expect_refused(splitcrun({"-n", "2", "--nodes", "3", "true"}), 2,
                 {"--nodes 3", "more than the 2 processes"});
  expect_refused(splitcrun({"-n", "1", "--nodes", "2", "true"}), 2, {"the 1 process of"});
  expect_refused(splitcrun({"-n", "2", "--nodes", "two", "true"}), 2, {"--nodes two", "number"});
  expect_refused(splitcrun({"-n", "2", "--nodes", "1.5", "true"}), 2, {"--nodes 1.5", "number"});
}

TEST(Usage, counts_that_are_none_are_refused) {
  expect_refused(splitcrun({"-n", "0", "true"}), 2, {"-n 0", "at least 1"});
  expect_refused(splitcrun({"-n", "abc", "true"}), 2, {"-n abc", "not a number"});
  expect_refused(splitcrun({"-n", "-3", "true"}), 2, {"-3"});
  expect_refused(splitcrun({"-n", "100000", "true"}), 2, {"-n 100000", "4096"});
  expect_refused(splitcrun({"true"}), 2, {"how many", "-n"});
}

TEST(Usage, options_given_twice_or_without_their_value_are_refused) {
  expect_refused(splitcrun({"-n", "2", "-n", "3", "true"}), 2, {"-n: given more than once"});
  expect_refused(splitcrun({"-n", "2", "--timeout"}), 2, {"--timeout: its value is missing"});
}

TEST(Usage, missing_programs_are_refused) {
  expect_refused(splitcrun({"-n", "2"}), 2, {"which program?"});
  expect_refused(splitcrun({"-n", "2", "no-such-program"}), 127, {"no-such-program", "PATH"});
  expect_refused(splitcrun({"-n", "2", "./no/such"}), 127, {"./no/such", "no such file"});
}

TEST(Usage, programs_that_cannot_run_are_refused) {
  const std::string script = testing::TempDir() + "/script." + std::to_string(getpid());
  std::ofstream(script) << "#!/no/such/interpreter\n";
  expect_refused(splitcrun({"-n", "2", script}), 2, {script, "chmod +x"});
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  expect_refused(splitcrun({"-n", "2", script}), 2, {script, "interpreter"});
  std::filesystem::remove(script);
}

TEST(Usage, nonsense_options_are_refused) {
  expect_refused(splitcrun({"-n", "2", "--labl", "true"}), 2, {"--labl", "--help"});
  expect_refused(splitcrun({"-n", "2", "--bind", "sock", "true"}), 2,
                 {"--bind sock:", "none, core"});
  expect_refused(splitcrun({"-n", "2", "--threads", "0", "true"}), 2, {"--threads 0", "from 1"});
  expect_refused(splitcrun({"-n", "2", "--timeout", "soon", "true"}), 2, {"soon", "seconds"});
  expect_refused(splitcrun({"-n", "4096", "--bind", "core", "true"}), 2, {"--bind core", "4096"});
  expect_refused(splitcrun({"-n", "4", "--threads", "4096", "--bind", "core", "true"}), 2,
                 {"4 processes of 4096 threads need 16384 cores"});
}

TEST(Usage, nonsense_variables_are_refused_once) {
  Words command = splitcrun({"-n", "3", "true"});
  command.insert(command.begin(), {"env", "SPLITC_SEGMNT=1G"});
  expect_refused(command, 2, {"SPLITC_SEGMNT=1G", "did you mean SPLITC_SEGMENT?"});
}

TEST(Usage, help_says_where_the_program_goes) {
  const auto result = run(splitcrun({"--help"}));
  EXPECT_EQ(result.exit_code, 0);
  expect_contains(result.out, {"Usage: splitcrun", "[options] PROGRAM [arguments]", "--nodes M"});
}

TEST(Usage, version_is_printed) {
  const auto result = run(splitcrun({"--version"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("splitcrun (Splitphase) ")) << result.out;
  expect_contains(result.out, {" build; ", "control region"});
}

TEST(Usage, help_env_prints_the_table) {
  const auto result = run(splitcrun({"--help-env"}));
  EXPECT_EQ(result.exit_code, 0);
  expect_contains(result.out, {"SPLITC_SEGMENT", "SPLITC_WAIT", "SPLITC_VERBOSE", "256M"});
}

// The processors of each rank of a job.
Words processors_of(Words options) {
  for (const char* word : {"sh", "-c", "echo $SPLITC_RANK $(taskset -cp $$ | sed 's/.*: //')"}) {
    options.emplace_back(word);
  }
  return sorted_lines(run(splitcrun(std::move(options))).out);
}

TEST(Bind, core_gives_each_process_processors_of_its_own) {
  if (shmem::usable_cores() < 2) GTEST_SKIP() << "one core";
  const Words two = processors_of({"-n", "2", "--bind", "core"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_NE(two[0].substr(2), two[1].substr(2));
  EXPECT_EQ(processors_of({"-n", "2", "--bind", "auto"}), two);
  EXPECT_EQ(processors_of({"-n", "1", "--bind", "core"}), Words{two[0]});
}

// On a machine as hwloc's variable describes it, of the two processors that there are.
TEST(Bind, sockets_are_shared_out_in_blocks) {
  if (shmem::allowed_processors() != std::vector<int>{0, 1}) GTEST_SKIP() << "not two processors";
  setenv("HWLOC_SYNTHETIC", "package:2 numa:1 l3:1 core:1 pu:1", 1);
  for (const char* domain : {"socket", "numa", "l3"}) {
    const Words four = processors_of({"-n", "4", "--bind", domain});
    EXPECT_EQ(four, (Words{"0 0", "1 0", "2 1", "3 1"})) << domain;
  }
  const auto result = run(splitcrun({"-n", "2", "--bind", "socket", "--verbose", "true"}));
  expect_contains(result.err, {"rank 0 is process ", " on processor 0", " on processor 1"});
  setenv("HWLOC_SYNTHETIC", "package:1 core:2 pu:1", 1);
  expect_refused(splitcrun({"-n", "2", "--bind", "l3", "true"}), 2,
                 {"--bind l3", "no level-3 caches", "--bind core"});
  const Words both = processors_of({"-n", "1", "--bind", "core", "--threads", "2"});
  EXPECT_EQ(both, (Words{"0 0,1"}));
  unsetenv("HWLOC_SYNTHETIC");
}

TEST(Bind, verbose_tells_process_and_processor) {
  const auto result = run(splitcrun({"-n", "1", "--bind", "core", "--verbose", "true"}));
  expect_contains(result.err, {"rank 0 is process ", " on processor "});
}

TEST(Bind, verbose_tells_pretended_nodes_and_who_is_bound_to_nothing) {
  const auto result =
      run(splitcrun({"-n", "3", "--nodes", "2", "--bind", "none", "--verbose", "true"}));
  expect_contains(result.err, {"rank 1 is process ", ", bound to no processor, pretended node 0\n",
                               ", bound to no processor, pretended node 1\n"});
}

TEST(Options, that_are_unknown_are_named_before_what_is_missing) {
  expect_refused(splitcrun({"--hlep"}), 2, {"--hlep: no such option"});
  expect_refused(splitcrun({"-np", "4", "true"}), 2, {"-np: it is -n here"});
  expect_refused(splitcrun({"-n", "2", "--hosts", "a,b", "true"}), 2,
                 {"--hosts: no such option", "on this machine only", "mpirun"});
  expect_refused(splitcrun({"--nodse", "2", "-n", "4", "true"}), 2, {"--nodse: no such option"});
}

}  // namespace
}  // namespace am
