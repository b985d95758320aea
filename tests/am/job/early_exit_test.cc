// A process that leaves its job by exit() or quick_exit() before it has finished.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"
#include "tests/am/job/fake_launcher.h"
#include "tests/shmem/in_child.h"

#ifdef __SANITIZE_ADDRESS__
// The children of death tests here do leave by exit(), without the threads of their parent, whose
// memory then looks lost.
extern "C" const char* __lsan_default_options() { return "leak_check_at_exit=0"; }
#endif

namespace am {
namespace {

using test::FakeLauncher;

// What a launcher of two hears last from a process that leaves it in that way.
std::string last_word_before(const std::function<void()>& leave) {
  FakeLauncher launcher({.size = 2});
  shmem::test::in_child([&]() -> std::string {
    const auto job = join_pmi1(launcher.connection());
    leave();
    return "stayed";
  });
  return launcher.heard().back();
}

TEST(EarlyExit, leaving_before_the_end_aborts_the_job) {
  EXPECT_EQ(last_word_before([] { std::exit(0); }), "cmd=abort exitcode=1");
  EXPECT_EQ(last_word_before([] { std::exit(7); }), "cmd=abort exitcode=7");
  EXPECT_EQ(last_word_before([] { std::quick_exit(0); }), "cmd=abort exitcode=1");
  EXPECT_EQ(last_word_before([] { _exit(0); }), "cmd=get_my_kvsname") << "nobody can know";
}

TEST(EarlyExit, leaving_before_the_end_is_said_and_is_no_success) {
  const FakeLauncher launcher({.size = 2});
  const auto leave = [&](const auto& how) {
    const auto job = join_pmi1(launcher.connection());
    how();
  };
  const char* sentence = "rank 0: left .* before it had finished the job";
  EXPECT_EXIT(leave([] { std::exit(0); }), testing::ExitedWithCode(1), sentence);
  EXPECT_EXIT(leave([] { std::quick_exit(0); }), testing::ExitedWithCode(1), sentence);
  EXPECT_EXIT(leave([] { std::exit(7); }), testing::ExitedWithCode(7), "^$");
}

TEST(EarlyExit, leaving_after_the_end_is_nothing) {
  const FakeLauncher launcher({.size = 2});
  EXPECT_EXIT(
      {
        join_pmi1(launcher.connection())->finished();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(EarlyExit, child_of_a_process_may_leave) {
  FakeLauncher launcher({.size = 2});
  const auto job = join_pmi1(launcher.connection());
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "^$");  // the child of a death test
  EXPECT_EQ(launcher.heard().back(), "cmd=get_my_kvsname");
  permit_exit();  // this process too
}

}  // namespace
}  // namespace am
