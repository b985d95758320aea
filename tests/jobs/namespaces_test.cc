// Processes of a machine that cannot open each other's memory, or whose /proc shows others.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/am/job/program.h"
#include "tests/support/text.h"

namespace namespaces {

using am::test::lines_of;
using am::test::run;
using test::expect_contains;
using Words = std::vector<std::string>;

constexpr const char* kSplitcrun = "tools/splitcrun/splitcrun";
constexpr const char* kHello = "examples/hello_splitc";

bool works(const std::string& command) { return run({"sh", "-c", command}).exit_code == 0; }

// Each of three processes is greeted by another, which writes into its memory.
void expect_greetings(const std::string& out) {
  const Words lines = lines_of(out);
  const auto greets = [](const std::string& line) {
    return line.find("was greeted by") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(lines, greets), 3) << out;
}

// Rootless containers of one machine look like that.
TEST(Namespaces, of_users_make_a_process_far_and_verbose_says_why) {
  if (!works("unshare -Ur true")) GTEST_SKIP() << "skipped: no user namespaces here";
  for (const char* rank : {"0", "2"}) {
    const std::string script = std::string("if [ $SPLITC_RANK = ") + rank +
                               " ]; then exec unshare -Ur " + kHello + "; else exec " + kHello +
                               "; fi";
    const auto result = run({kSplitcrun, "-n", "3", "--verbose", "sh", "-c", script});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_greetings(result.out);
    expect_contains(result.out + result.err,
                    {"cannot be reached by shared memory, so by the network", "user namespace",
                     "2 nodes, joined by"});
  }
}

TEST(Namespaces, of_users_are_named_where_shared_memory_is_demanded) {
  if (!works("unshare -Ur true")) GTEST_SKIP() << "skipped: no user namespaces here";
  const std::string script = std::string("if [ $SPLITC_RANK = 1 ]; then exec unshare -Ur ") +
                             kHello + "; else exec " + kHello + "; fi";
  const auto result = run({"env", "SPLITC_WAY=memory", kSplitcrun, "-n", "2", "sh", "-c", script});
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {"SPLITC_WAY=memory", "on 2 nodes"});
}

TEST(Namespaces, of_processes_do_not_need_a_proc_of_their_own) {
  if (!works("unshare -p -f true")) GTEST_SKIP() << "skipped: no PID namespaces here";
  for (const Words& shape : {Words{"-n", "3"}, Words{"-n", "3", "--nodes", "2"}}) {
    Words words = {"unshare", "-p", "-f", kSplitcrun};
    words.insert(words.end(), shape.begin(), shape.end());
    words.push_back(kHello);
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    expect_greetings(result.out);
  }
}

}  // namespace namespaces
