#include "tests/am/job/program.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "am/types/types.h"

// How Split-C programs begin and end, from outside.

namespace {

using am::test::Program;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kMisbehave = "tests/splitc/misbehave";
constexpr const char* kAnother = "tests/splitc/misbehave_too";

Program::Result misbehave(int size, Words words) {
  words.insert(words.begin(), {kSplitcrun, "-n", std::to_string(size), kMisbehave});
  return am::test::run(words);
}

void expect_says(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

TEST(Run, gives_back_the_result_of_the_program) {
  EXPECT_EQ(misbehave(3, {"result", "0"}).exit_code, 0);
  EXPECT_EQ(misbehave(3, {"result", "7"}).exit_code, 7);
  EXPECT_EQ(misbehave(1, {"result", "7"}).exit_code, 7);
}

TEST(Run, of_a_program_without_a_result_gives_0) {
  const auto result = misbehave(2, {"nothing", "a", "b"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "3 arguments\n3 arguments\n");
}

TEST(Run, of_a_program_started_bare_is_a_job_of_one) {
  const auto result = am::test::run({kMisbehave, "call"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "answer 42\n");
}

TEST(Run, ends_the_job_with_the_text_of_an_exception) {
  for (const std::string rank : {"0", "2"}) {
    const auto result = misbehave(3, {"throw", rank});
    EXPECT_EQ(result.exit_code, 1);
    expect_says(result.err, {"rank " + rank + ": the disk is full"});
  }
  const auto bare = am::test::run({kMisbehave, "throw", "0"});
  EXPECT_EQ(bare.exit_code, 1);
  expect_says(bare.err, {"rank 0: the disk is full"});
}

TEST(Run, names_the_rank_of_an_error_once) {
  const auto result = misbehave(3, {"refused", "1"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: toglobal: "});
  EXPECT_EQ(result.err.find("rank 1: rank 1"), std::string::npos) << result.err;
}

TEST(Run, ends_the_job_at_an_exception_of_no_known_kind) {
  const auto result = misbehave(2, {"strange", "1"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: run: the program was left by an exception"});
}

// Between nodes, where it takes a while. What comes then would be written over another's memory.
Program::Result without_sync(const std::string& how) {
  return am::test::run({kSplitcrun, "-n", "2", "--nodes", "2", kMisbehave, how, "1"});
}

TEST(Run, names_a_get_into_the_programs_frame_that_is_not_complete_at_the_end) {
  const auto result = without_sync("unsynced");
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: get: the 8 bytes of this process at 0x", "process 0",
                           "are in a function that has returned", "call sync()"});
}

TEST(Run, names_a_get_into_any_memory_that_is_not_complete_at_the_end_in_a_checked_build) {
  const auto result = without_sync("kept");
  if (!SPLITPHASE_CHECKED) GTEST_SKIP() << "a release build";
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: get: the 8 bytes of this process at 0x", "process 0",
                           "were left to the end of run()", "call sync()"});
}

TEST(Run, names_a_get_of_a_function_that_has_returned_in_a_checked_build) {
  const auto result = without_sync("left");
  if (!SPLITPHASE_CHECKED) GTEST_SKIP() << "a release build";
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: get: the 8 bytes of this process at 0x", "process 0",
                           "are in a function that has returned", "call sync()"});
}

TEST(Run, ends_the_job_when_processes_call_different_things) {
  const auto result = misbehave(3, {"mismatch"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"all_bcast of 4 bytes", "all_reduce of 4 bytes"});
}

TEST(Run, ends_the_job_when_a_function_throws_that_another_process_called) {
  const auto result = misbehave(3, {"handler", "2"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err,
              {"rank 2: atomic: the function that rank 0 had run on the object at offset",
               "threw: no more of this"});
}

TEST(Run, ends_the_job_when_a_function_of_an_rpc_throws) {
  const auto result = misbehave(3, {"rpc", "2"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err,
              {"rank 2: rpc: the function that rank 0 had run here threw: ", "no more of this"});
}

// The others exit first, with 1, and the launcher then ends process 0.
TEST(Run, has_written_what_programs_have_printed_before_anybody_exits) {
  const auto result = misbehave(3, {"verdict"});
  EXPECT_NE(result.exit_code, 0);
  expect_says(result.out, {"WRONG"});
}

TEST(Run, refuses_a_program_that_ends_between_the_halves_of_a_barrier) {
  const auto result = misbehave(2, {"half"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"run: the program ended after barrier_notify() without"});
}

TEST(Run, names_a_thread_that_waits_when_the_program_returns) {
  const auto result = misbehave(2, {"waiting", "1"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 1: the end of run: another thread of this process is still in a "
                           "call of the library when the function given to run() returns; join"});
}

// Either of the two threads may be the one that finds it.
TEST(Run, names_a_thread_that_polls_when_the_program_returns) {
  const auto result = misbehave(2, {"polling", "1"});
  EXPECT_TRUE(std::regex_search(result.err, std::regex("the function given to run[(][)].* join")))
      << result.err;
}

TEST(Run, refuses_arguments_that_are_not_there) {
  const auto result = misbehave(1, {"argument"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 0: Args: there is no argument 7: the program was given 1"});
}

TEST(Run, works_with_the_smallest_segment) {
  setenv("SPLITC_SEGMENT", "64K", 1);
  const auto result = misbehave(3, {"call"});
  unsetenv("SPLITC_SEGMENT");
  EXPECT_EQ(result.out, "answer 42\n") << result.err;
}

TEST(Run, refuses_settings_that_do_not_exist) {
  setenv("SPLITC_SEGMNT", "64M", 1);
  const auto result = am::test::run({kMisbehave, "nothing"});
  unsetenv("SPLITC_SEGMNT");
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"SPLITC_SEGMNT", "did you mean SPLITC_SEGMENT?"});
}

// Process 0 runs kMisbehave, and the others `program`.
Program::Result misbehave_beside(const std::string& program, const Words& options,
                                 const std::string& how) {
  const std::string script = "if [ $SPLITC_RANK = 0 ]; then exec " + std::string(kMisbehave) + " " +
                             how + "; else exec " + program + " " + how + "; fi";
  Words words{kSplitcrun, "-n", "3"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"bash", "-c", script});
  return am::test::run(words);
}

std::string copy_of_program() {
  const auto copy = std::filesystem::path(getenv("TEST_TMPDIR")) / "a_copy";
  std::filesystem::copy_file(kMisbehave, copy, std::filesystem::copy_options::overwrite_existing);
  return copy.string();
}

TEST(Atomic, is_refused_when_the_processes_run_different_programs) {
  const auto same = misbehave(3, {"call"});
  EXPECT_EQ(same.out, "answer 42\n") << same.err;
  const auto result = misbehave_beside(copy_of_program(), {}, "call");
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 0: atomic: the processes of this job run different programs"});
}

// There the file is another one anyhow; what counts is what is in it.
TEST(Atomic, between_nodes_is_refused_when_the_programs_differ_and_not_when_only_the_files_do) {
  const auto copy = misbehave_beside(copy_of_program(), {"--nodes", "2"}, "call");
  EXPECT_EQ(copy.exit_code, 0) << copy.err;
  EXPECT_EQ(copy.out, "answer 42\n");
  const auto other = misbehave_beside(kAnother, {"--nodes", "2"}, "call");
  EXPECT_EQ(other.exit_code, 1);
  expect_says(other.err, {"rank 0: atomic: the processes of this job run different programs"});
}

TEST(Atomic, on_words_works_between_different_programs) {
  for (const Words& options : {Words{}, Words{"--nodes", "2"}, Words{"--nodes", "3"}}) {
    const auto result = misbehave_beside(kAnother, options, "word");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "sum 30\n");
  }
}

// What begins and ends differently when there is a network.
TEST(Run, between_nodes_ends_the_job_as_on_one) {
  const Words nodes{"--nodes", "3"};
  const auto end = [&](const std::string& how) { return misbehave_beside(kMisbehave, nodes, how); };
  EXPECT_EQ(end("result 7").exit_code, 7);
  expect_says(end("throw 2").err, {"rank 2: the disk is full"});
  expect_says(end("handler 2").err,
              {"rank 2: atomic: the function that rank 0", "no more of this"});
  expect_says(end("mismatch").err, {"all_bcast of 4 bytes", "all_reduce of 4 bytes"});
  expect_says(end("half").err, {"run: the program ended after barrier_notify() without"});
}

}  // namespace
