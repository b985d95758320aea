#pragma once

#include <atomic>

#include "am/sync/backoff.h"
#include "shmem/flag.h"

namespace am {

// The lock of a bundle that several threads use (Access::kParallel). It is held for the time of a
// poll or a request, but for the handlers that run in it. Not recursive.
//
// Taken and released it costs one atomic exchange. Nobody who waits for it needs to be woken, as it
// is held so shortly: waiting spins, then yields the core, then sleeps for moments, so that a
// holder of lower priority comes to its end.
class alignas(shmem::kCacheLine) Monitor {
 public:
  Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  bool try_lock() noexcept {
    // pairs with: unlock()
    return !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept {
    // pairs with: try_lock()
    held_.store(false, std::memory_order_release);
  }

  // Waits, holding the lock, until `condition()`, which others make true while this lets them in.
  template <class Condition>
  void wait_until(Condition&& condition) noexcept {
    while (!condition()) {
      unlock();
      let_others_run();
      lock();
    }
  }

 private:
  void wait() noexcept;
  static void let_others_run() noexcept;

  std::atomic<bool> held_{false};
};

// Holds a lock for as long as it lives; nullptr: does nothing.
class MonitorLock {
 public:
  explicit MonitorLock(Monitor* monitor) noexcept : monitor_(monitor) {
    if (monitor_ != nullptr) monitor_->lock();
  }
  ~MonitorLock() {
    if (monitor_ != nullptr) monitor_->unlock();
  }
  MonitorLock(const MonitorLock&) = delete;
  MonitorLock& operator=(const MonitorLock&) = delete;

 private:
  Monitor* const monitor_;
};
// The reverse: lets others in for as long as it lives.
class MonitorUnlock {
 public:
  explicit MonitorUnlock(Monitor* monitor) noexcept : monitor_(monitor) {
    if (monitor_ != nullptr) monitor_->unlock();
  }
  ~MonitorUnlock() {
    if (monitor_ != nullptr) monitor_->lock();
  }
  MonitorUnlock(const MonitorUnlock&) = delete;
  MonitorUnlock& operator=(const MonitorUnlock&) = delete;

 private:
  Monitor* const monitor_;
};

}  // namespace am
