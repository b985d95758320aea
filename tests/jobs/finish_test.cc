// The end of a job loses no message that was sent before it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/am/job/program.h"

namespace finish {

using am::test::lines_of;
using am::test::run;
using Words = std::vector<std::string>;

// Runs the job some times, and counts the processes that have handled `count` messages.
void expect_all_handled(int processes, const Words& shape, const std::string& count,
                        const Words& mode = {}) {
  constexpr int kTimes = 5;
  for (int i = 0; i < kTimes; ++i) {
    Words words = {"tools/splitcrun/splitcrun", "-n", std::to_string(processes)};
    words.insert(words.end(), shape.begin(), shape.end());
    words.insert(words.end(), {"tests/jobs/finisher", count});
    words.insert(words.end(), mode.begin(), mode.end());
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Words lines = lines_of(result.out);
    EXPECT_EQ(lines, Words(static_cast<std::size_t>(processes), "handled " + count));
  }
}

TEST(Finish, messages_of_a_node_are_handled) {
  expect_all_handled(2, {}, "10");
  expect_all_handled(3, {}, "100");
}

TEST(Finish, messages_of_endpoints_that_have_ended_are_handled) {
  expect_all_handled(2, {}, "10", {"endpoints-end-first"});
  expect_all_handled(2, {"--nodes", "2"}, "10", {"endpoints-end-first"});
}

TEST(Finish, messages_of_other_nodes_are_handled) {
  expect_all_handled(2, {"--nodes", "2"}, "10");
  expect_all_handled(3, {"--nodes", "2"}, "100");
}

}  // namespace finish
