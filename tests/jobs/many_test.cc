#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "tests/am/job/program.h"

namespace many {

TEST(Many, sixty_four_processes_exchange_words_and_pass_a_thousand_barriers) {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = am::test::run({"tools/splitcrun/splitcrun", "-n", "64", "tests/jobs/many"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("64 processes, all-to-all, 1000 barriers: %.2f s\n", took.count());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(am::test::lines_of(result.out).size(), 64u) << result.out;
}

}  // namespace many
