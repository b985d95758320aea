// What splitcrun does with what its processes print, whoever reads it or does not.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "tests/am/job/splitcrun.h"
#include "tests/support/text.h"

namespace am {
namespace {

using ::test::expect_contains;
using test::kLaunched;
using test::kSplitcrun;
using test::lines_of;
using test::processes_of;
using test::Program;
using test::run;
using test::sorted_lines;
using test::splitcrun;
using test::supervisor_of;
using test::Words;

constexpr std::size_t kLongest = 1 << 18;  // bytes of a line, beyond which it comes in pieces

// A job of two whose ranks print without end, once each has said on standard error that it starts.
Words flood(Words options) {
  options.insert(options.begin(), {"-n", "2", "--label"});
  options.insert(options.end(), {"sh", "-c", "echo ready >&2; exec yes"});
  return splitcrun(std::move(options));
}

void wait_until_ready(Program& job) {
  for (const char* line : {"[0] ready\n", "[1] ready\n"}) job.wait_for_error(line);
}

// Until the program yes sleeps, which it does only when its pipe is full.
void wait_until_it_writes_in_vain(pid_t pid) {
  std::string number, name, state;
  while (name != "(yes)" || state != "S") {
    std::ifstream("/proc/" + std::to_string(pid) + "/stat") >> number >> name >> state;
    poll(nullptr, 0, 1);
  }
}

// The most memory that a process has had, in KiB.
long peak_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  long kib = -1;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> kib;
  }
  return kib;
}

TEST(Label, begins_every_line_with_its_rank_on_its_own_stream) {
  const auto result = run(splitcrun(
      {"-n", "2", "--label", "sh", "-c", "printf 'one\\n\\nlast'; printf 'oops\\n' >&2"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(sorted_lines(result.out),
            (Words{"[0] ", "[0] last", "[0] one", "[1] ", "[1] last", "[1] one"}));
  EXPECT_EQ(sorted_lines(result.err), (Words{"[0] oops", "[1] oops"}));
}

TEST(Label, neither_loses_nor_tears_lines_longer_than_a_pipe) {
  constexpr int kRanks = 4, kLines = 8, kLength = 200'000;
  const auto result = run(splitcrun({"-n", std::to_string(kRanks), "--label", kLaunched, "lines",
                                     std::to_string(kLines), std::to_string(kLength)}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, int> seen;
  for (const std::string& line : lines_of(result.out)) ++seen[line];
  ASSERT_EQ(seen.size(), std::size_t{kRanks}) << "a line is torn";
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string line =
        "[" + std::to_string(rank) + "] " + std::string(kLength, static_cast<char>('a' + rank));
    EXPECT_EQ(seen[line], kLines);
  }
}

TEST(Label, reader_that_goes_away_ends_the_job) {
  const auto result = run({"sh", "-c", std::string(kSplitcrun) + " -n 2 --label yes | head -n 1"});
  EXPECT_EQ(lines_of(result.out).size(), 1u);
  expect_contains(result.err, {"(Broken pipe)"});
}

TEST(Label, lines_longer_than_the_limit_come_in_pieces) {
  for (const std::size_t bytes :
       {kLongest - 1, kLongest, kLongest + 1, 2 * kLongest, 2 * kLongest + 7}) {
    const auto result = run(splitcrun({"-n", "1", "--label", "sh", "-c",
                                       "head -c " + std::to_string(bytes) +
                                           " /dev/zero | tr '\\0' x; echo; "
                                           "echo next"}));
    Words lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), (bytes + kLongest - 1) / kLongest + 1) << bytes;
    EXPECT_EQ(lines.back(), "[0] next") << "the newline of the piece is that of the line";
    lines.pop_back();
    std::size_t found = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string label = i == 0 ? "[0] " : "[0]+ ";
      ASSERT_TRUE(lines[i].starts_with(label)) << lines[i].substr(0, 10);
      EXPECT_EQ(lines[i].find_first_not_of('x', label.size()), std::string::npos);
      EXPECT_LE(lines[i].size() - label.size(), kLongest);
      found += lines[i].size() - label.size();
    }
    EXPECT_EQ(found, bytes);
  }
}

constexpr std::size_t kMuch = 32 << 20;

// The process says "done" when all of it is in the pipe; until it is, it is kept waiting.
void expect_bounded_memory(const std::string& command) {
  Program job(
      splitcrun({"-n", "1", "--label", "sh", "-c", command + "; echo done >&2; exec sleep 1000"}));
  const pid_t supervisor = supervisor_of(job);
  processes_of(job, 1);
  const long before = peak_of(supervisor);
  job.wait_for_error("[0] done", true);
#ifndef __SANITIZE_ADDRESS__  // it keeps what was freed
  EXPECT_LT(peak_of(supervisor), before + 16 * 1024) << "KiB";
#else
  (void)before;
#endif
  job.signal(SIGTERM);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_GT(result.out.size(), kMuch);
}

TEST(Label, line_without_an_end_does_not_make_splitcrun_grow) {
  expect_bounded_memory("head -c " + std::to_string(kMuch) + " /dev/zero");
}

TEST(Label, output_that_is_read_slowly_does_not_make_splitcrun_grow) {
  expect_bounded_memory("yes | head -c " + std::to_string(kMuch));
}

TEST(Label, thousands_of_lines_from_many_ranks_are_all_whole) {
  constexpr int kRanks = 64, kLines = 1000;
  const auto result = run(splitcrun(
      {"-n", "64", "--label", "sh", "-c",
       "i=0; while [ $i -lt 1000 ]; do echo line $i of $SPLITC_RANK; i=$((i + 1)); done"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, int> next;
  for (const std::string& line : lines_of(result.out)) {
    const std::string rank = line.substr(1, line.find(']') - 1);
    ASSERT_EQ(line, "[" + rank + "] line " + std::to_string(next[rank]++) + " of " + rank);
  }
  EXPECT_EQ(next.size(), std::size_t{kRanks});
  for (const auto& [rank, lines] : next) EXPECT_EQ(lines, kLines) << rank;
}

TEST(Label, both_streams_into_one_pipe_tear_no_line) {
  const auto result = run({"sh", "-c",
                           std::string(kSplitcrun) +
                               " -n 4 --label sh -c 'i=0; while [ $i -lt 300 ]; do echo out $i; "
                               "echo err $i >&2; i=$((i + 1)); done' 2>&1"});
  std::map<std::string, int> seen;
  for (const std::string& line : lines_of(result.out)) ++seen[line.substr(line.find(' ') + 1)];
  EXPECT_EQ(seen.size(), 600u);
  for (const auto& [line, times] : seen) EXPECT_EQ(times, 4) << line;
}

TEST(Label, words_that_are_printed_when_the_job_is_ended_are_passed_on) {
  Program job(splitcrun({"-n", "1", "--label", "sh", "-c",
                         "(trap 'echo the last words; exit' TERM; echo ready >&2; "
                         "while :; do sleep 0.01; done) & wait"}));
  job.wait_for_error("[0] ready");
  kill(processes_of(job, 1).front(), SIGKILL);
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_EQ(result.out, "[0] the last words\n");
}

TEST(StalledReader, does_not_keep_a_timeout_from_ending_the_job) {
  Program job(flood({"--timeout", "0.5"}));
  job.wait_for_error("--timeout");
  EXPECT_EQ(job.wait_unread(), 124);
}

TEST(StalledReader, does_not_keep_a_signal_from_ending_the_job) {
  Program job(flood({}));
  wait_until_ready(job);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait_unread(), 128 + SIGTERM);
}

TEST(StalledReader, does_not_keep_a_death_from_being_noticed_and_loses_nothing) {
  Program job(flood({}));
  wait_until_ready(job);
  for (const pid_t pid : processes_of(job, 2)) wait_until_it_writes_in_vain(pid);
  kill(processes_of(job, 2).at(1), SIGKILL);
  job.wait_for_error("rank 1");  // before a byte of the output is read
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  expect_contains(result.err, {"was killed by signal 9 (Killed); ending the other process"});
  const Words lines = lines_of(result.out);
  const auto is_whole = [](const std::string& line) { return line == "[0] y" || line == "[1] y"; };
  // "y\n" may be cut by the kill, behind which a newline is added.
  EXPECT_GE(std::ranges::count_if(lines, is_whole), static_cast<long>(lines.size()) - 2);
  EXPECT_GT(lines.size(), 65536u / 2) << "the pipes were full";
}

TEST(StalledReader, of_both_streams_keeps_nothing_from_ending) {
  // Nothing is read at all: neither a line nor a sentence of splitcrun.
  Program job(splitcrun({"-n", "2", "--label", "--timeout", "0.5", "sh", "-c", "exec yes >&2"}));
  EXPECT_EQ(job.wait_unread(), 124);
}

TEST(StalledReader, of_standard_error_does_not_keep_sentences_from_being_followed_by_deeds) {
  // Without a label the processes themselves fill the pipe; the sentence has to wait.
  Program job(splitcrun({"-n", "2", "--timeout", "0.5", "sh", "-c", "exec yes >&2"}));
  EXPECT_EQ(job.wait_unread(), 124);
}

TEST(StalledReader, is_waited_for_when_all_is_well) {
  Program job(splitcrun({"-n", "1", "--label", "sh", "-c", "seq 100000; echo done >&2"}));
  job.wait_for_error("[0] done");  // all of it is in the pipes and in splitcrun
  const auto result = job.finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines_of(result.out).size(), 100'000u);
}

TEST(FullDisk, is_said_and_is_an_error) {
  const std::string job = std::string(kSplitcrun) + " -n 2 --label sh -c 'echo text' >/dev/full";
  const auto result = run({"sh", "-c", job});
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {"cannot write to descriptor 1 (No space left on device)"});
  EXPECT_NE(run({"sh", "-c", job + " 2>&1"}).exit_code, 0);
}

TEST(FullDisk, ends_a_job_that_prints_without_end) {
  const auto result = run({"sh", "-c", std::string(kSplitcrun) + " -n 2 --label yes >/dev/full"});
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  expect_contains(result.err, {"No space left on device", "(Broken pipe)"});
}

TEST(FileSizeLimit, of_0_is_a_sentence_or_an_exit_code_and_not_a_death) {
  const std::string job = "ulimit -f 0; exec " + std::string(kSplitcrun) + " -n 2 true";
  const auto result = run({"sh", "-c", job});
  EXPECT_EQ(result.exit_code, 2);
  expect_contains(result.err, {"file size limit", "ulimit -f"});
  const std::string file = testing::TempDir() + "/limited." + std::to_string(getpid());
  EXPECT_EQ(run({"sh", "-c", "(" + job + ") 2>" + file}).exit_code, 2);
  unlink(file.c_str());
}

}  // namespace
}  // namespace am
