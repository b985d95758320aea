// The exit code of a process whose output is lost.
#include "am/job/config/lost_output.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace am {
namespace {

TEST(LostOutput, changes_an_exit_code_of_0_only) {
  EXPECT_EXIT((note_lost_output("the tables are lost"), std::exit(0)), testing::ExitedWithCode(1),
              "^the tables are lost\n$");
  EXPECT_EXIT((note_lost_output("x"), std::exit(7)), testing::ExitedWithCode(7), "");
  EXPECT_EXIT((note_lost_output("x"), std::quick_exit(0)), testing::ExitedWithCode(1), "");
}

TEST(LostOutput, in_a_handler_of_exit_counts) {
  EXPECT_EXIT((std::atexit([] { note_lost_output("x"); }), std::exit(0)),
              testing::ExitedWithCode(1), "");
}

TEST(LostOutput, changes_no_exit_code_where_somebody_is_told) {
  EXPECT_EXIT(
      {
        std::atomic<std::uint32_t> lost{0};
        tell_of_lost_output(&lost);
        note_lost_output("x");
        std::exit(lost.load() == 1 ? 0 : 9);
      },
      testing::ExitedWithCode(0), "^x\n$");
}

TEST(LostOutput, is_not_that_of_a_child) {
  EXPECT_EXIT(
      {
        note_lost_output("x");
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        int status = -1;
        waitpid(child, &status, 0);
        std::exit(status == 0 ? 7 : 9);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace am
