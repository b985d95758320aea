// What is said of a process that crashes: by itself, once, and by splitcrun.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/text.h"

namespace crash {

using am::test::lines_of;
using am::test::Program;
using am::test::run;
using test::count_of;
using test::expect_contains;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kCrasher = "tests/jobs/crasher";

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;  // it has handlers of its own for faults, and they stay
#else
constexpr bool kSanitized = false;
#endif

Program::Result crash(Words words) {
  words.insert(words.begin(), {kCrasher, "0"});
  return run(words);
}

// Rank 1 of 3.
Program::Result crash_one_of_three(Words words, Words options = {}) {
  options.insert(options.begin(), {kSplitcrun, "-n", "3"});
  options.insert(options.end(), {kCrasher, "1"});
  options.insert(options.end(), words.begin(), words.end());
  return run(options);
}

struct Kind {
  std::string how;
  int signal;
  std::string cause;  // in the report
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.how; }

const Kind kKinds[] = {
    {"segv", SIGSEGV, "address 0x0 is not mapped; a null pointer was used"},
    {"bus", SIGBUS, "memory is exhausted; it is in no segment; it is in the file /memfd:small"},
#if defined(__aarch64__)  // where dividing by zero gives zero, and the compiler's trap is another
    {"ill", SIGTRAP, "a check that the compiler made has failed"},
#else
    {"fpe", SIGFPE, "an integer was divided by zero"},
    {"ill", SIGILL, "(Illegal instruction)"},
#endif
    {"trap", SIGTRAP, "which it raised itself"},
    {"abort", SIGABRT, "it called abort()"},
    {"call", SIGSEGV, "(a call of a null pointer)"},
    {"raise", SIGSEGV, "which it raised itself"},
    {"throw", SIGABRT, "an exception that nobody catches, OwnError: the text of it"},
    {"throw_int", SIGABRT, "an exception that nobody catches, int"},
    {"terminate", SIGABRT, "std::terminate without an exception"},
};

class Crash : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (kSanitized && GetParam().signal != SIGABRT) GTEST_SKIP() << "the sanitizer reports it";
  }
};

TEST_P(Crash, is_reported_once_with_its_cause_and_place) {
  for (const Words& where : {Words{}, Words{"thread"}}) {
    Words words = {GetParam().how};
    words.insert(words.end(), where.begin(), where.end());
    const auto result = crash(words);
    EXPECT_EQ(result.exit_code, 128 + GetParam().signal);
    EXPECT_EQ(count_of(result.err, "rank 0 (pid "), 1u) << result.err;
    expect_contains(result.err, {GetParam().cause, "in crash_here+0x", "addr2line -Cfpie "});
    EXPECT_EQ(result.err.find("terminate called"), std::string::npos) << "said twice";
    if (!where.empty()) expect_contains(result.err, {", thread "});
  }
}

TEST_P(Crash, of_one_rank_is_the_only_one_that_is_reported) {
  const auto result = crash_one_of_three({GetParam().how});
  EXPECT_EQ(result.exit_code, 128 + GetParam().signal);
  EXPECT_EQ(count_of(result.err, ") has crashed by") + count_of(result.err, ") ends by") +
                count_of(result.err, ") has called"),
            1u)
      << result.err;
  expect_contains(result.err, {"rank 1 (pid ", GetParam().cause,
                               "was killed by signal " + std::to_string(GetParam().signal)});
}

// By addr2line, which splitcrun runs. (A null pointer that is called has no frame of its own.)
TEST_P(Crash, is_shown_with_its_line_of_the_source) {
  if (run({"sh", "-c", "command -v addr2line || command -v eu-addr2line"}).exit_code != 0) {
    GTEST_SKIP() << "there is no addr2line";
  }
  const auto result = crash_one_of_three({GetParam().how});
  const std::size_t begin = result.err.find("splitcrun: rank 1 was in\n  #0 ");
  ASSERT_NE(begin, std::string::npos) << result.err;
  const std::string lines = result.err.substr(begin);
  expect_contains(lines, {"crash_here", "tests/jobs/crasher.cc:"});
  EXPECT_EQ(result.err.find("lines of the source:"), std::string::npos) << result.err;
}

// Found by nobody in an empty PATH, so a person has to.
TEST(CrashReport, without_addr2line_ends_with_the_command) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  const auto result = run({"env", "PATH=/nowhere", kSplitcrun, "-n", "2", kCrasher, "1", "segv"});
  expect_contains(result.err,
                  {"splitcrun: rank 1 was in\n  lines of the source: addr2line -Cfpie "});
}

INSTANTIATE_TEST_SUITE_P(By, Crash, testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.how; });

TEST(CrashReport, names_whose_segment_the_address_is_in) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  expect_contains(crash_one_of_three({"segment"}).err,
                  {"rank 1 (pid ",
                   "may not be accessed like that; it is in rank 2's segment, "
                   "at offset 1048616"});
}

TEST(CrashReport, names_the_handler_of_a_message) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  expect_contains(crash_one_of_three({"handler"}).err, {"rank 1 (pid ", "in crash_in_handler+0x"});
}

TEST(CrashReport, names_libfabric_and_its_provider_if_these_crash) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  expect_contains(crash_one_of_three({"libfabric"}, {"--nodes", "2"}).err,
                  {"rank 1 (pid ", "in fi_dupinfo",
                   "it is libfabric that has crashed: ", "libfabric 1.", "'s net on lo;"});
  const auto own = crash_one_of_three({"segv"}, {"--nodes", "2"});
  EXPECT_EQ(own.err.find("it is libfabric"), std::string::npos) << own.err;
}

TEST(CrashReport, in_a_handler_says_that_addresses_do_not_travel) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  expect_contains(crash_one_of_three({"handler_pointer"}).err,
                  {"address 0x100000000000 is not mapped", "in a handler of a message of rank 0",
                   "a pointer or reference that came with it means something else"});
}

TEST(CrashReport, of_an_exception_in_a_handler_says_whose_message) {
  expect_contains(
      crash_one_of_three({"handler_throws"}).err,
      {"rank 1 (pid ", "OwnError: the text of it", "in a handler of a message of rank 0"});
}

TEST(CrashReport, has_a_stack_when_the_stack_is_full) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  const auto result = crash({"deep"});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  expect_contains(result.err, {"the stack is full", "in recurse_for_ever"});
}

TEST(CrashReport, of_a_child_is_no_rank) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reports it";
  const auto result = crash({"child"});
  EXPECT_EQ(result.exit_code, 9);
  expect_contains(result.err, {"a child of rank 0 (pid "});
}

TEST(CrashReport, leaves_handlers_of_the_program_alone) {
  for (const char* when : {"before", "after"}) {
    const auto own = crash({"segv", when, "own_signal"});
    EXPECT_EQ(own.exit_code, 7) << when;
    EXPECT_EQ(own.err, "own handler\n") << when;
  }
  const auto later = crash({"throw", "after", "own_terminate"});
  EXPECT_EQ(later.exit_code, 8);
  EXPECT_EQ(later.err, "own terminate\n");
  const auto earlier = crash({"throw", "before", "own_terminate"});
  EXPECT_EQ(earlier.exit_code, 8) << "is called after the report";
  expect_contains(earlier.err, {"OwnError: the text of it", "\nown terminate\n"});
}

TEST(CrashReport, leaves_faults_to_a_sanitizer) {
  if (!kSanitized) GTEST_SKIP() << "there is none";
  const auto result = crash({"segv"});
  expect_contains(result.err, {"AddressSanitizer: SEGV"});
  EXPECT_EQ(count_of(result.err, "has crashed by"), 0u) << result.err;
}

TEST(CrashReport, can_be_switched_off) {
  const auto result = run({"env", "SPLITC_CRASH_REPORT=0", kCrasher, "0", "abort"});
  EXPECT_EQ(result.exit_code, 128 + SIGABRT);
  EXPECT_EQ(result.err, "");
}

TEST(CrashReport, is_labelled_as_all_that_a_process_prints) {
  const auto result = crash_one_of_three({"abort"}, {"--label"});
  expect_contains(result.err, {"[1] rank 1 (pid ", "[1]   #0 0x"});
}

TEST(Splitcrun, says_what_it_was_asked_to_say_after_a_crash_and_only_then) {
  const Words options = {"--on-crash", "try the checked build"};
  const auto crashed = crash_one_of_three({"abort"}, options);
  EXPECT_EQ(lines_of(crashed.err).back(), "try the checked build");
  const auto killed = run({kSplitcrun, "-n", "1", "--on-crash", "try", "sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.err.find("try"), std::string::npos) << killed.err;
}

}  // namespace crash
