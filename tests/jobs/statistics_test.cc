// splitcrun --stats: what is counted is what tests/jobs/counted.cc does, at its lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/marked_line.h"

namespace statistics {

using am::test::run;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kCounted = "tests/jobs/counted";
constexpr const char* kUnoptimized = "tests/jobs/counted_unoptimized";
constexpr const char* kSource = "tests/jobs/counted.cc";
constexpr const char* kCountedAm = "tests/jobs/counted_am";
constexpr const char* kAmSource = "tests/jobs/counted_am.cc";

// "tests/jobs/counted.cc:40", the line that ends with "// line: <mark>".
std::string place_of(const std::string& mark) { return test::marked_line(kSource, mark); }

// That some line has both, and nothing but blanks before `begin`.
void expect_line(const std::string& text, const std::string& begin, const std::string& end) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, next - at);
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, begin.size(), begin) == 0 &&
        line.find(end) != std::string::npos) {
      return;
    }
    at = next + 1;
  }
  ADD_FAILURE() << "no line begins with '" << begin << "' and has '" << end << "':\n" << text;
}

TEST(Statistics, are_there_for_programs_of_active_messages_alone) {
  const auto job = run({kSplitcrun, "-n", "2", "--nodes", "2", "--stats", kCountedAm});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.err.find("statistics of 2 processes on 2 nodes, "), 0u) << job.err;
  expect_line(job.err, "1      100 B      100 B", "put of a channel");
  expect_line(job.err, "1 ", "Bundle::wait_until at " + test::marked_line(kAmSource, "answer"));
  expect_line(job.err, "packets to other nodes: ", " each; ");
}

TEST(Statistics, name_the_lines_that_use_the_network_and_those_that_wait) {
  const auto job = run({kSplitcrun, "-n", "2", "--nodes", "2", "--stats", kCounted});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.err.find("statistics of 2 processes on 2 nodes, "), 0u) << job.err;
  expect_line(job.err, "30      240 B        8 B", "read at " + place_of("read"));
  expect_line(job.err, "1        8 B        8 B", "get at " + place_of("get"));
  expect_line(job.err, "1        8 B        8 B", "put at " + place_of("put"));
  expect_line(job.err, "1      240 B      240 B", "bulk_get at " + place_of("bulk_get"));
  expect_line(job.err, "1       80 B       80 B", "get_strided at " + place_of("strided"));
  expect_line(job.err, "1       16 B       16 B", "get_indexed at " + place_of("indexed"));
  expect_line(job.err, "1        8 B        8 B", "store_each at " + place_of("each"));
  expect_line(job.err, "1       16 B       16 B", "put_signal at " + place_of("signal"));
  expect_line(job.err, "30      240 B        8 B", "store at " + place_of("store"));
  expect_line(job.err, "7       56 B        8 B", "fetch_and_add at " + place_of("atomic"));
  expect_line(job.err, "1 ", "rpc at " + place_of("rpc"));
  expect_line(job.err, "1 ", "rpc at " + place_of("lookups"));
  expect_line(job.err, "0           -          76", "");  // 30 + 5 + 30 + 7 + 4
  expect_line(job.err, "1           -           -", "");
  // It has no room for its line, and stands in a lambda of main().
  expect_line(job.err, "1 ", "sync in main (counted+0x");
  expect_line(job.err, "packets to other nodes: ", " each; ");
}

// Where functions of the library are not inlined, so that they are what calls.
TEST(Statistics, name_the_lines_of_a_program_that_is_not_optimized) {
  const auto job = run({kSplitcrun, "-n", "2", "--nodes", "2", "--stats", kUnoptimized});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  for (const std::string call : {"read", "get", "put", "store"}) {
    EXPECT_NE(job.err.find(call + " at " + place_of(call)), std::string::npos) << job.err;
  }
  EXPECT_EQ(job.err.find(" at splitc/"), std::string::npos) << job.err;
  expect_line(job.err, "1 ", "sync in main (counted_unoptimized+0x");
}

// A third of the datagrams is lost, and of what arrives a third comes twice.
TEST(Statistics, say_what_the_network_has_lost) {
  const auto job = run({"env", "SPLITC_LINK=datagram", "SPLITC_FAULT=drop:30,dup:30,seed=1",
                        kSplitcrun, "-n", "2", "--nodes", "2", "--stats", kCounted});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  std::smatch said;
  ASSERT_TRUE(std::regex_search(
      job.err, said,
      std::regex("datagrams: ([0-9]+) sent, of which ([0-9]+) again .*; received ([0-9]+) twice")))
      << job.err;
  EXPECT_GT(std::stoi(said[1]), std::stoi(said[2])) << job.err;
  EXPECT_GT(std::stoi(said[2]), 0) << job.err;
  EXPECT_GT(std::stoi(said[3]), 0) << job.err;
}

TEST(Statistics, of_one_node_are_of_waits_only) {
  const auto job = run({kSplitcrun, "-n", "2", "--stats", kCounted});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.err.find("statistics of 2 processes on 1 node, "), 0u) << job.err;
  EXPECT_EQ(job.err.find("other nodes"), std::string::npos) << job.err;
}

// The same lines and numbers as with other nodes, for the same program on one.
TEST(Statistics, of_one_node_have_its_operations_if_these_are_watched) {
  const auto job = run({kSplitcrun, "-n", "2", "--stats", "--watch-near", kCounted});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_NE(job.err.find("operations within the node\n"), std::string::npos) << job.err;
  EXPECT_EQ(job.err.find("other nodes"), std::string::npos) << job.err;
  expect_line(job.err, "30      240 B        8 B", "read at " + place_of("read"));
  expect_line(job.err, "1      240 B      240 B", "bulk_get at " + place_of("bulk_get"));
  expect_line(job.err, "1       80 B       80 B", "get_strided at " + place_of("strided"));
  expect_line(job.err, "1       16 B       16 B", "get_indexed at " + place_of("indexed"));
  expect_line(job.err, "1        8 B        8 B", "store_each at " + place_of("each"));
  expect_line(job.err, "1       16 B       16 B", "put_signal at " + place_of("signal"));
  expect_line(job.err, "30      240 B        8 B", "store at " + place_of("store"));
  expect_line(job.err, "7       56 B        8 B", "fetch_and_add at " + place_of("atomic"));
  expect_line(job.err, "1 ", "rpc at " + place_of("rpc"));
  expect_line(job.err, "0           -          76", "");
}

TEST(Statistics, watch_nothing_that_nobody_wants_told) {
  const auto job = run({kSplitcrun, "-n", "1", "--watch-near", kCounted});
  EXPECT_EQ(job.exit_code, 2);
  EXPECT_NE(job.err.find("it says what --stats and --trace are to tell; add one of these"),
            std::string::npos)
      << job.err;
}

TEST(Statistics, are_not_there_unless_they_are_asked_for) {
  const auto job = run({kSplitcrun, "-n", "2", "--nodes", "2", kCounted});
  EXPECT_EQ(job.exit_code, 0);
  EXPECT_EQ(job.err, "");
}

TEST(Statistics, are_one_line_of_json_if_they_are_asked_for_so) {
  const auto job = run({kSplitcrun, "-n", "2", "--nodes", "2", "--stats=json", kCounted});
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.err.find("{\"processes\":2,\"nodes\":2,\"calls\":[{"), 0u) << job.err;
  EXPECT_EQ(job.err.find('\n'), job.err.size() - 1) << job.err;
  EXPECT_NE(job.err.find("\"operations\":7,\"bytes\":56"), std::string::npos) << job.err;
  // As text it may be one of the places with less.
  EXPECT_NE(job.err.find("{\"call\":\"barrier\",\"place\":\"" + place_of("barrier") + "\""),
            std::string::npos)
      << job.err;
  EXPECT_NE(run({kSplitcrun, "-n", "2", "--stats=xml", kCounted}).exit_code, 0);
}

TEST(Statistics, are_asked_for_by_all_processes_or_none) {
  const auto job = run({kSplitcrun, "-n", "2", "sh", "-c",
                        "SPLITC_STATS=$SPLITC_RANK exec " + std::string(kCounted)});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_NE(job.err.find("has another SPLITC_STATS; give every process the same"),
            std::string::npos)
      << job.err;
}

// What every start asks for, with the program of this file.
TEST(StatisticsProgram, has_as_many_threads_in_every_process) {
  for (const std::string nodes : {"1", "2"}) {
    const auto job = run({kSplitcrun, "-n", "2", "--nodes", nodes, "sh", "-c",
                          "exec " + std::string(kCounted) + " $((SPLITC_RANK + 2))"});
    EXPECT_NE(job.exit_code, 0);
    EXPECT_NE(job.err.find("runs with .threads = "), std::string::npos) << job.err;
    EXPECT_NE(job.err.find("; give run() the same in every process"), std::string::npos) << job.err;
  }
}

}  // namespace statistics
