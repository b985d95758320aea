#pragma once

#include <atomic>
#include <optional>

#include "am/core/bundle.h"
#include "shmem/mailbox.h"

// How the threads of a parallel bundle are kept apart at an endpoint.

namespace am {

class EndpointParts;

// The bundle that an endpoint is in. Another thread may move it from one parallel bundle to
// another.
class InBundle {
 public:
  explicit InBundle(Bundle* bundle) noexcept : bundle_(bundle) {}
  InBundle& operator=(Bundle* bundle) noexcept {
    bundle_.store(bundle, std::memory_order_relaxed);
    return *this;
  }
  Bundle* get() const noexcept { return bundle_.load(std::memory_order_relaxed); }
  Bundle* operator->() const noexcept { return get(); }
  Bundle& operator*() const noexcept { return *get(); }

 private:
  std::atomic<Bundle*> bundle_;
};

// Which threads may interfere while a message is delivered: the template parameter `Access` of
// everything between a poll and a handler. OneThread is for sequential bundles, AnyThread for
// parallel ones. Unlocked lives while a handler runs.
struct OneThread {
  struct Unlocked {
    explicit Unlocked(const Bundle&) noexcept {}
  };
  static constexpr bool kAlone = true;
  static constexpr shmem::Threads kThreads = shmem::Threads::kOne;
  static Activity& activity(const Bundle& bundle) noexcept { return *bundle.activity_; }
};
struct AnyThread {
  using Unlocked = Bundle::Unlock;
  static constexpr bool kAlone = false;
  static constexpr shmem::Threads kThreads = shmem::Threads::kAny;
  static Activity& activity(const Bundle& bundle) noexcept { return bundle.activity(); }
};

// Which threads are at an endpoint. Of a sequential bundle only `calls` and `left` are used.
struct EndpointThreads {
  std::atomic<int> calls{0};  // calls of it that wait; a count that publishes nothing
  // Guarded by the bundle's lock.
  int holds = 0;      // PauseGuards
  int visits = 0;     // threads that are polling it
  bool left = false;  // it is in no bundle any more: no handler runs from here on
};

// Counts a call of the endpoint that waits, for as long as it lives.
class CallGuard {
 public:
  explicit CallGuard(EndpointThreads& threads) noexcept : calls_(threads.calls) {
    calls_.fetch_add(1, std::memory_order_relaxed);
  }
  ~CallGuard() { calls_.fetch_sub(1, std::memory_order_relaxed); }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  std::atomic<int>& calls_;
};

// Locks the parallel bundle that an endpoint is in. Of a sequential one it does nothing.
class EndpointLock : public std::unique_lock<Monitor> {
 public:
  explicit EndpointLock(const EndpointParts& parts) noexcept;
};

// While one lives, polls of a parallel bundle leave the endpoint out, from the next on.
class PauseGuard {
 public:
  explicit PauseGuard(EndpointParts& parts) noexcept;
  ~PauseGuard();
  PauseGuard(const PauseGuard&) = delete;
  PauseGuard& operator=(const PauseGuard&) = delete;

 private:
  EndpointParts& parts_;
};

// Has the endpoint of a parallel bundle for itself: holds its lock, no handler of it runs, and
// polls leave it out. Of a sequential bundle it does nothing. Throws Error of `call` if it would
// have to wait in a handler or callback, as it might wait for itself.
class ExclusiveLock {
 public:
  ExclusiveLock(EndpointParts& parts, Call call);

 private:
  std::optional<PauseGuard> pause_;  // ends after the lock
  std::optional<EndpointLock> lock_;
};

}  // namespace am
