#include "am/job/stall/question.h"

#include <signal.h>

#include <atomic>

namespace am {
namespace {

std::atomic<bool> asked{false};  // nothing else is published by it
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int) { asked.store(true, std::memory_order_relaxed); }

}  // namespace

void note_stall_questions() {
  struct sigaction before {};
  sigaction(SIGUSR1, nullptr, &before);
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = &note;
  action.sa_flags =
      SA_RESTART;  // the program's own calls go on; who sleeps here wakes all the same
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
}

bool take_stall_question() noexcept {
  return asked.load(std::memory_order_relaxed) && asked.exchange(false, std::memory_order_relaxed);
}

}  // namespace am
