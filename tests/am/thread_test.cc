#include "am/types/thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>

#include "tests/support/text.h"

namespace {

// As std::thread is where a limit has been reached. A real limit would be root's to exceed.
struct RefusedThread {
  template <class Body>
  explicit RefusedThread(Body&&) {
    throw std::system_error(EAGAIN, std::generic_category());
  }
};

TEST(StartThread, says_who_wanted_one_and_what_for_where_there_is_none) {
  std::string sentence;
  try {
    am::start_thread<RefusedThread>("rank 3: ", "that serves others", [] {});
  } catch (const am::Error& error) {
    sentence = error.what();
  }
  test::expect_contains(sentence, {"rank 3: cannot start a thread that serves others (",
                                   "temporarily unavailable", "ulimit -u", "pids.max"});
}

TEST(StartThread, keeps_signals_of_the_program_from_it) {
  bool blocked = false;
  am::start_thread("", "", [&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM) == 1;
  }).join();
  EXPECT_TRUE(blocked);
}

}  // namespace
