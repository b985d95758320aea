#include "am/sync/locks.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <memory>

namespace am {
namespace {

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

constexpr int kSpinsForLock = 100;
constexpr int kYieldsForLock = 200;
constexpr long kSleepNs = 50'000;

}  // namespace

BiasedLock::BiasedLock() noexcept
    : ending_(!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

void BiasedLock::begin_in_child() noexcept {
  std::construct_at(&mutex_);
  waiting_ = 0;
  inside_ = 0;
  ending_ = false;
  bias_ = this_thread();
}

void BiasedLock::lock_unbiased() noexcept {
  // pairs with: nothing; a thread finds its own store here, or somebody else's name
  if (holder_.load(std::memory_order_relaxed) != this_thread()) {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!ending_.load(std::memory_order_relaxed)) return take_over();
    holder_.store(this_thread(), std::memory_order_relaxed);
  }
  ++depth_;
}

bool BiasedLock::try_lock_unbiased() noexcept {
  if (holder_.load(std::memory_order_relaxed) != this_thread()) {
    // Who polls all the time would else keep the lock from those who send.
    if (waiting_.load(std::memory_order_relaxed) != 0 || !mutex_.try_lock()) return false;
    if (!ending_.load(std::memory_order_relaxed)) {
      take_over();
      return true;
    }
    holder_.store(this_thread(), std::memory_order_relaxed);
  }
  ++depth_;
  return true;
}

void BiasedLock::unlock_unbiased() noexcept {
  if (--depth_ != 0) return;
  holder_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

// With the mutex, which it gives back or keeps: the first thread gets the bias, the second ends it.
void BiasedLock::take_over() noexcept {
  if (bias_.load(std::memory_order_relaxed) == nullptr) {
    inside_.store(1, std::memory_order_relaxed);
    bias_.store(this_thread(), std::memory_order_relaxed);
    mutex_.unlock();
    return;
  }
  end_bias();
  holder_.store(this_thread(), std::memory_order_relaxed);
  ++depth_;
}

void BiasedLock::end_bias() noexcept {
  ending_.store(true, std::memory_order_relaxed);
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);  // pairs with: enter()
  // pairs with: unlock() and enter(). What that thread has done inside is visible from here on.
  while (inside_.load(std::memory_order_acquire) != 0) sched_yield();
  bias_.store(nullptr, std::memory_order_relaxed);
}

void BiasedLock::be_unbiased() noexcept {
  const std::lock_guard guard(mutex_);
  if (!ending_.load(std::memory_order_relaxed)) end_bias();
}

void BiasedLock::give_up_bias() noexcept {
  const std::lock_guard guard(mutex_);
  if (bias_.load(std::memory_order_relaxed) != this_thread()) return;
  bias_.store(nullptr, std::memory_order_relaxed);
}

void Monitor::let_others_run() noexcept { sched_yield(); }

void Monitor::wait() noexcept {
  for (int looks = 0;; ++looks) {
    // No partner: try_lock() decides.
    if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
    if (looks < kSpinsForLock) {
      Backoff::pause();
    } else if (looks < kSpinsForLock + kYieldsForLock) {
      sched_yield();
    } else {
      const timespec moment{.tv_sec = 0, .tv_nsec = kSleepNs};
      nanosleep(&moment, nullptr);
    }
  }
}

}  // namespace am
