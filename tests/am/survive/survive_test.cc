// Jobs that go on without their dead: real processes that are killed at random points while
// everyone floods everyone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/free_port.h"
#include "tests/support/seed.h"
#include "tests/support/text.h"

namespace am::test {
namespace {

using ::test::expect_contains;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kFlood = "tests/am/survive/flood";
constexpr const char* kSplitC = "tests/am/survive/split_c";
constexpr const char* kSplitCEnd = "tests/am/survive/split_c_end";
constexpr const char* kFinish = "tests/am/survive/finish";
constexpr const char* kLeave = "tests/am/survive/leave";
constexpr const char* kDies = "tests/am/survive/dies";

struct Shape {
  int processes;
  int nodes;
  int deaths;
};

// "4711" of each "(pid 4711)".
Words pids_in(const std::string& text) {
  Words pids;
  for (std::size_t at = 0; (at = text.find("(pid ", at)) != text.npos;) {
    at += 5;
    pids.push_back(text.substr(at, text.find(')', at) - at));
  }
  return pids;
}

Words names_in_memory() {
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void expect_nothing_left_of(const std::string& pid) {
  for (const std::string& name : names_in_memory()) {
    EXPECT_EQ(name.find(pid), std::string::npos) << name << " is left in /dev/shm";
  }
}

#ifdef __SANITIZE_ADDRESS__
constexpr const char* kRequests = "400";  // each takes several times as long
#else
constexpr const char* kRequests = "600";
#endif

void flood(const Shape& shape, std::uint64_t seed, const Words& settings = {},
           const Words& more = {}) {
  SCOPED_TRACE(std::to_string(shape.processes) + " processes, " + std::to_string(shape.nodes) +
               " nodes, " + std::to_string(shape.deaths) + " deaths, seed " + std::to_string(seed));
  const std::string ledger = ::testing::TempDir() + "/ledger-" + std::to_string(seed);
  std::ofstream(ledger, std::ios::trunc).close();
  Words command = {"env"};
  command.insert(command.end(), settings.begin(), settings.end());
  for (const std::string& word :
       {std::string(kSplitcrun), std::string("--survive"), std::string("--timeout"),
        std::string("120"), std::string("-n"), std::to_string(shape.processes)}) {
    command.push_back(word);
  }
  if (shape.nodes > 1) command.insert(command.end(), {"--nodes", std::to_string(shape.nodes)});
  command.insert(command.end(),
                 {kFlood, std::to_string(seed), std::to_string(shape.deaths), kRequests, ledger});
  command.insert(command.end(), more.begin(), more.end());
  const auto result = run(command);
  EXPECT_EQ(result.exit_code, shape.deaths == 0 ? 0 : 3) << result.err << result.out;
  EXPECT_EQ(lines_of(result.out).size(), static_cast<std::size_t>(shape.processes - shape.deaths))
      << result.out;
  const Words pids = pids_in(result.err);
  EXPECT_EQ(pids.size(), static_cast<std::size_t>(shape.deaths)) << result.err;
  EXPECT_EQ(lines_of(result.err).size(), static_cast<std::size_t>(shape.deaths)) << result.err;
  if (shape.deaths != 0)
    expect_contains(result.err, {"was killed by signal 9 (Killed); the other "});
  for (const std::string& pid : pids) expect_nothing_left_of(pid);
  std::filesystem::remove(ledger);
}

void flood_all(const std::vector<Shape>& shapes, int times, const Words& settings = {}) {
  std::mt19937_64 random(::test::seed());
  for (const Shape& shape : shapes) {
    for (int i = 0; i < times; ++i) flood(shape, random() % 1'000'000, settings);
  }
}

TEST(Survive, near_every_request_is_answered_or_comes_back_once) {
  flood_all({{2, 1, 1}, {3, 1, 1}, {5, 1, 2}, {8, 1, 3}}, 1);
}

TEST(Survive, near_all_but_one_may_die) { flood_all({{4, 1, 3}}, 1); }

TEST(Survive, near_in_a_parallel_bundle) { flood({4, 1, 2}, ::test::seed() + 1, {}, {"parallel"}); }

TEST(Survive, far_every_request_is_answered_or_comes_back_once) {
  flood_all({{2, 2, 1}, {5, 2, 2}, {8, 3, 3}}, 1);
}

TEST(Survive, far_over_tcp) { flood_all({{4, 2, 2}}, 1, {"SPLITC_PROVIDER=tcp;ofi_rxm"}); }

TEST(Survive, far_without_rma) { flood_all({{4, 2, 1}}, 1, {"SPLITC_RMA=0"}); }

TEST(Survive, far_by_datagrams) { flood_all({{2, 2, 1}, {5, 2, 2}}, 1, {"SPLITC_LINK=datagram"}); }

TEST(Survive, a_provider_whose_processes_wait_for_the_dead_is_refused) {
  const auto result = run({"env", "SPLITC_PROVIDER=shm", kSplitcrun, "--survive", "-n", "2",
                           "--nodes", "2", kFlood, "1", "0", "1", "none"});
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {"SPLITC_PROVIDER=shm", "--survive"});
}

// The victim of a program that is known to kill rank 1.
void expect_survived(const Words& options, const char* program) {
  Words command = {kSplitcrun, "--survive", "--timeout", "120"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(program);
  const auto result = run(command);
  EXPECT_EQ(result.exit_code, 3) << result.err << result.out;
  expect_contains(result.err, {"rank 1 (pid ", "was killed by signal 9"});
  expect_contains(result.out, {"rank 0 is well", "rank 2 is well"});
}

TEST(Survive, in_c) {
  expect_survived({"-n", "3"}, kDies);
  expect_survived({"-n", "3", "--nodes", "2"}, kDies);
  expect_survived({"-n", "3", "--nodes", "3"}, kDies);
}

// The exit code of a job of which each process ends as its word says, and what splitcrun says.
void expect_end(int exit_code, const Words& ends, const Words& said) {
  Words command = {kSplitcrun, "--survive", "--timeout", "120", "-n", std::to_string(ends.size()),
                   kLeave};
  command.insert(command.end(), ends.begin(), ends.end());
  const auto result = run(command);
  EXPECT_EQ(result.exit_code, exit_code) << ends[0] << " " << ends[1] << ": " << result.err;
  EXPECT_EQ(lines_of(result.err).size(), said.size()) << result.err;
  for (const std::string& sentence : said) expect_contains(result.err, {sentence});
}

TEST(Survive, the_exit_code_says_who_is_left) {
  expect_end(0, {"well", "well", "well"}, {});
  expect_end(3, {"kill", "well", "well"},
             {"killed by signal 9 (Killed); the other 2 processes go on"});
  expect_end(3, {"well", "code:7"}, {") exited with code 7; the other process goes on"});
  expect_end(3, {"well", "code:0", "well"}, {"before it had finished the job; the other 2 "});
  expect_end(7, {"well", "after:7", "well"},
             {") exited with code 7, after it had finished the job"});
  expect_end(9, {"kill", "well", "after:9"}, {"killed by signal 9", "exited with code 9, after"});
  expect_end(128 + 9, {"kill", "kill"}, {"rank 0 (pid ", "rank 1 (pid "});
  expect_end(3, {"kill", "child:0"}, {"killed by signal 9 (Killed); the other process goes on"});
  expect_end(9, {"kill", "child:9"}, {"killed by signal 9", "exited with code 9, after"});
  expect_end(5, {"well", "abort:5", "well"},
             {"ended the job: rank 1: as it was told; ending the "});
}

TEST(Survive, who_has_finished_and_dies_while_others_need_it_is_dead) {
  for (const char* const nodes : {"1", "3"}) {
    const auto result = run({kSplitcrun, "--survive", "--timeout", "120", "-n", "3", "--nodes",
                             nodes, kFinish, "serving"});
    EXPECT_EQ(result.exit_code, 3) << result.err << result.out;
    expect_contains(result.err, {"rank 2 (pid ", "rank 1 (pid ", "; the other process goes on"});
    EXPECT_EQ(result.out, "rank 0 is well\n") << result.err;
  }
}

TEST(Survive, who_dies_before_it_has_said_why_it_aborts_keeps_nobody_from_aborting) {
  const auto result =
      run({kSplitcrun, "--survive", "--timeout", "120", "-n", "3", kFinish, "aborting"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  expect_contains(result.err, {"rank 1 (pid ", "ended the job: rank 0: as it was told"});
}

TEST(Survive, a_process_may_be_in_its_next_job_while_others_finish_the_one_before) {
  for (int i = 0; i < 10; ++i) {
    const auto result =
        run({kSplitcrun, "--survive", "--timeout", "120", "-n", "5", kFinish, "twice"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(lines_of(result.out).size(), 5u) << result.out;
  }
}

// Whether they wait for it when it ends, or begin the next job later.
TEST(Survive, no_job_begins_without_one_that_has_ended_after_the_last) {
  for (const char* const option : {"--survive", "--verbose"}) {
    for (int i = 0; i < 5; ++i) {
      const auto run_with = [option](const char* how) {
        return run({kSplitcrun, option, "--timeout", "120", "-n", "3", kFinish, how});
      };
      const auto killed = run_with("killed");
      EXPECT_TRUE(killed.exit_code == 128 + 9 || killed.exit_code == 128 + 6) << killed.err;
      expect_contains(killed.err, {"rank 1 (pid ", "was killed by signal 9"});
      const auto left = run_with("leaves");
      EXPECT_TRUE(left.exit_code == 1 || left.exit_code == 128 + 6) << left.err;
      expect_contains(left.err, {"rank 1 ", " left ", " before "});
    }
  }
}

TEST(Survive, a_variable_says_it_too) {
  const auto result =
      run({"env", "SPLITC_SURVIVE=1", kSplitcrun, "-n", "2", kLeave, "kill", "well"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
}

TEST(Survive, other_launchers_refuse_it) {
  const std::string place = "SPLITC_RENDEZVOUS=127.0.0.1:" + std::to_string(::test::free_port());
  const Words settings = {"env", "SPLITC_SURVIVE=1", "SPLITC_SIZE=2", "SPLITC_SECRET=12345678",
                          place};
  Words first = settings, second = settings;
  first.insert(first.end(), {"SPLITC_RANK=0", kLeave, "well", "well"});
  second.insert(second.end(), {"SPLITC_RANK=1", kLeave, "well", "well"});
  Program other(first);
  const auto result = run(second);
  const auto others = other.finish();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(others.exit_code, 0);
  // One may leave before the other looks, which then says only that it has lost the first.
  expect_contains(result.err + others.err,
                  {"SPLITC_SURVIVE=1: this job was started by rendezvous"});
}

TEST(Survive, split_c_ends_with_a_sentence_that_names_the_dead) {
  for (const char* const nodes : {"1", "2"}) {
    for (const char* const call : {"barrier", "all_reduce", "start_all_reduce", "store_sync"}) {
      const auto result = run({kSplitcrun, "--survive", "--timeout", "120", "-n", "3", "--nodes",
                               nodes, kSplitC, call});
      EXPECT_EQ(result.exit_code, 1) << result.err;
      expect_contains(result.err, {std::string(call), ": rank 1 has died"});
    }
  }
}

// The network ends what it does by itself; what goes by messages nobody answers.
TEST(Survive, split_c_does_not_wait_for_room_towards_the_dead) {
  for (const char* const way : {"SPLITC_RMA=1", "SPLITC_RMA=0", "SPLITC_LINK=datagram"}) {
    const auto result = run({"env", way, kSplitcrun, "--survive", "--timeout", "120", "-n", "3",
                             "--nodes", "3", kSplitC, "sync"});
    EXPECT_EQ(result.exit_code, 1) << way << result.err;
    expect_contains(result.err, {"sync: rank 1 has died"});
  }
}

// As that is no exception of the library's own, it ended the process by std::terminate() once.
TEST(Survive, split_c_ends_with_a_sentence_also_in_a_destructor) {
  for (const char* const nodes : {"1", "2"}) {
    const auto result = run({kSplitcrun, "--survive", "--timeout", "120", "-n", "3", "--nodes",
                             nodes, kSplitC, "nothing"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    expect_contains(result.err, {"spread_array: rank 1 has died"});
  }
}

// The report is a collective call, which the program itself has not made.
TEST(Survive, statistics_do_not_change_how_a_job_ends) {
  for (const bool counts : {false, true}) {
    Words command = {kSplitcrun, "--survive", "--timeout", "120", "-n", "3", kSplitCEnd};
    if (counts) command.insert(command.begin() + 1, "--stats");
    const auto result = run(command);
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_EQ(lines_of(result.err).size(), counts ? 2u : 1u) << result.err;
    if (counts) expect_contains(result.err, {"rank 0: there are no statistics, as "});
  }
}

TEST(Survive, without_a_death_is_as_without_the_option) { flood_all({{3, 1, 0}}, 1); }

}  // namespace
}  // namespace am::test
