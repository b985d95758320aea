// splitcrun --top: the table says what each process of tests/jobs/hang.cc does.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <string>

#include "tests/am/job/program.h"
#include "tests/support/marked_line.h"

namespace top {

using am::test::Program;
using am::test::run;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kHang = "tests/jobs/hang";

// "in barrier at tests/jobs/hang.cc:40"
std::string in_barrier() {
  return "in barrier at " + test::marked_line("tests/jobs/hang.cc", "barrier");
}

// Waits until `program` has printed what `text` is found in, and ends it.
std::string error_with(Program& program, const std::string& text) {
  std::string said = program.wait_for_error(text, true);
  EXPECT_NE(said.find(text), std::string::npos) << said;
  program.signal(SIGTERM);
  EXPECT_NE(program.finish().exit_code, 0);
  return said;
}

TEST(Top, says_what_each_process_does_and_for_how_long) {
  Program job({kSplitcrun, "-n", "4", "--top=0.2", kHang, "barrier"});
  const std::string said = error_with(job, in_barrier() + " for ");
  EXPECT_TRUE(std::regex_search(
      said, std::regex("after [0-9.]+ s: 4 processes, of which [0-9] waits?; .* messages/s\n")))
      << said;
  const std::regex row(" +0 +[0-9]+ +[0-9]+% +[1-9][0-9]* MB +[0-9.kM ]+ +[0-9.kM ]+  " +
                       in_barrier() + " for [0-9.]+ s\n");
  EXPECT_TRUE(std::regex_search(said, row)) << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos) << "it is no terminal";
}

// Two processes that call each other for as long as they are let.
TEST(Top, of_several_nodes_says_how_much_goes_between_them) {
  Program job(
      {"sh", "-c",
       std::string("exec ") + kSplitcrun + " -n 2 --nodes 2 --top=0.2 " + kHang + " call 2>&1"});
  const std::regex row(
      "\n +[01] +[0-9]+ +[0-9]+% +[0-9]+ MB +[0-9.kM ]+ +([1-9][0-9.kM ]*) +[0-9]+\\.[0-9] ");
  std::string said;
  for (int lines = 4; !std::regex_search(said, row) && lines < 1000; lines += 4) {
    said = job.wait_for_lines(lines);
  }
  EXPECT_TRUE(std::regex_search(said, row)) << said;
  EXPECT_NE(said.find("messages/s    far/s  far MB/s   polls/s"), std::string::npos) << said;
  job.signal(SIGTERM);
  EXPECT_NE(job.finish().exit_code, 0);
}

TEST(Top, of_many_processes_shows_some) {
  Program job({kSplitcrun, "-n", "18", "--top=0.2", "sleep", "1000"});
  const std::string said = error_with(job, "and 2 others\n");
  EXPECT_NE(said.find("not yet in the library"), std::string::npos) << said;
}

TEST(Top, of_many_processes_shows_those_that_have_ended_last) {
  Program job({kSplitcrun, "-n", "18", "--top=0.2", "sh", "-c",
               "[ $SPLITC_RANK -lt 16 ] || exec sleep 1000"});
  const std::string said = error_with(job, "\n   17 ");
  EXPECT_NE(said.find("and 2 others\n"), std::string::npos) << said;
}

// What another program, here cat, writes to the terminal stays.
TEST(Top, replaces_nothing_where_others_write_to_the_terminal) {
  const auto result = run(
      {"script", "-qec",
       std::string(kSplitcrun) + " -n 1 --top=0.1 sh -c 'echo begun; sleep 1' | cat", "/dev/null"});
  EXPECT_NE(result.out.find("begun"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("messages/s"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << result.out;
}

// script makes one. What the program writes there gets a label, and is not written over.
TEST(Top, on_a_terminal_replaces_its_last_table) {
  Program job({"script", "-qec",
               std::string(kSplitcrun) + " -n 2 --top=0.2 sh -c 'echo begun; exec " + kHang +
                   " each_other' >&2",
               "/dev/null"});
  job.wait_for_lines(12);
  std::string said;
  for (int lines = 12; said.find("\x1b[4A\x1b[J") == std::string::npos && lines < 1000; ++lines) {
    said = job.wait_for_lines(lines);
  }
  job.signal(SIGTERM);
  const auto result = job.finish();
  EXPECT_NE(said.find("\x1b[4A\x1b[J"
                      "after "),
            std::string::npos)
      << said;
  EXPECT_NE(result.out.find("begun"), std::string::npos) << result.out;
}

TEST(Top, refuses_what_is_no_time) {
  for (const std::string text : {"0", "-1", "0.05", "often", "1e10"}) {
    const auto result = run({kSplitcrun, "-n", "1", "--top=" + text, "true"});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_NE(result.err.find("--top=" + text + ": not a number of seconds from 0.1 on"),
              std::string::npos)
        << result.err;
  }
}

}  // namespace top
