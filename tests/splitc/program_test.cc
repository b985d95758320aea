#include "tests/am/job/program.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

// How Split-C programs begin and end, from outside.

namespace {

using am::test::Program;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "am/job/launcher/splitcrun";
constexpr const char* kMisbehave = "tests/splitc/misbehave";

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

TEST(Run, ends_the_job_when_processes_call_different_things) {
  const auto result = misbehave(3, {"mismatch"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"all_bcast of 4 bytes", "all_reduce_to_all_add of 4 bytes"});
}

TEST(Run, ends_the_job_when_a_function_throws_that_another_process_called) {
  const auto result = misbehave(3, {"handler", "2"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 2: no more of this"});
}

TEST(Run, refuses_a_program_that_ends_between_the_halves_of_a_barrier) {
  const auto result = misbehave(2, {"half"});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"run: the program ended after barrier_notify() without"});
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

TEST(Atomic, is_refused_when_the_processes_run_different_programs) {
  const std::filesystem::path copy =
      std::filesystem::path(getenv("TEST_TMPDIR")) / "another_program";
  std::filesystem::copy_file(kMisbehave, copy, std::filesystem::copy_options::overwrite_existing);
  const std::string script = "if [ $SPLITC_RANK = 0 ]; then exec " + std::string(kMisbehave) +
                             " call; else exec " + copy.string() + " call; fi";
  const auto same = am::test::run({kSplitcrun, "-n", "3", kMisbehave, "call"});
  EXPECT_EQ(same.out, "answer 42\n") << same.err;
  const auto result = am::test::run({kSplitcrun, "-n", "3", "bash", "-c", script});
  EXPECT_EQ(result.exit_code, 1);
  expect_says(result.err, {"rank 0: atomic: the processes of this job run different programs"});
}

}  // namespace
