#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "am/sync/backoff.h"
#include "shmem/flag.h"

namespace am {

// A lock that costs the thread which takes it first next to nothing, for as long as no other thread
// takes it: that one owns it by bias. The first lock() of another thread ends the bias for good (it
// waits until the biased thread is outside), and from then on this is a mutex. A thread may take it
// again while it has it.
//
// The bias. Its thread stores that it is inside and then checks whether the bias has ended; the
// thread that ends the bias stores that and then checks whether the other is inside. One of the two
// sees the other, which takes a full fence on both sides: membarrier(2) gives both from the rare
// side. (Of its private kind, which reaches every thread of this process: the gap that
// shmem/doorbell.h describes is the global kind's.) Where the kernel has none, this is a mutex from
// the start.
class BiasedLock {
 public:
  BiasedLock() noexcept;
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // Blocks while another thread has it. Costs 1 to 2 ns by bias, 20 ns without, unless contended.
  [[gnu::always_inline]] void lock() noexcept {
    if (bias_.load(std::memory_order_relaxed) == this_thread()) [[likely]] {
      if (enter()) return;
    }
    lock_unbiased();
  }
  // False: another thread has it, or waits for it.
  [[nodiscard]] bool try_lock() noexcept {
    if (bias_.load(std::memory_order_relaxed) == this_thread()) [[likely]] {
      if (enter()) return true;
    }
    return try_lock_unbiased();
  }
  [[gnu::always_inline]] void unlock() noexcept {
    if (bias_.load(std::memory_order_relaxed) == this_thread()) [[likely]] {
      // pairs with: end_bias()
      inside_.store(inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
      return;
    }
    unlock_unbiased();
  }

  // By a thread that has it: whether by bias, so that no other thread has ever had it, but for
  // those that have given up the bias. Does not change until unlock().
  bool biased() const noexcept { return bias_.load(std::memory_order_relaxed) == this_thread(); }
  // Call it without the lock: the next thread to take it owns the bias, if this thread did, or no
  // thread has taken it so far.
  void give_up_bias() noexcept;
  // By a thread that does not have it: it is a mutex from now on. Waits until the thread that owns
  // it by bias is outside.
  void be_unbiased() noexcept;
  // In a child that was forked: frees the lock, even if it was held in the parent, and gives this
  // thread the bias.
  void begin_in_child() noexcept;

 private:
  static const void* this_thread() noexcept {
    static thread_local const char own = 0;
    return &own;
  }

  // By the biased thread. False: the bias is about to end.
  [[gnu::always_inline]] bool enter() noexcept {
    const std::uint32_t before = inside_.load(std::memory_order_relaxed);
    inside_.store(before + 1, std::memory_order_relaxed);
    if (before != 0) return true;
    // pairs with: end_bias(), whose membarrier makes this a full fence
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!ending_.load(std::memory_order_relaxed)) [[likely]]
      return true;
    inside_.store(0, std::memory_order_release);  // pairs with: end_bias()
    return false;
  }
  void lock_unbiased() noexcept;
  bool try_lock_unbiased() noexcept;
  void unlock_unbiased() noexcept;
  void take_over() noexcept;
  void end_bias() noexcept;

  // Written under the mutex, read by any thread.
  std::atomic<const void*> bias_{nullptr};  // the thread that has it; nullptr: none
  std::atomic<bool> ending_;                // the bias is over, or there was none
  // Written by the biased thread: how often it has taken the lock.
  std::atomic<std::uint32_t> inside_{0};
  // For all others.
  std::mutex mutex_;
  std::atomic<const void*> holder_{nullptr};  // of the mutex, by this_thread()
  std::uint32_t depth_ = 0;                   // how often the holder has taken the lock
  std::atomic<std::uint32_t> waiting_{0};     // threads in lock()
};

// The lock of a bundle that several threads use (Access::kParallel). It is held for the time of a
// poll or a request, but for the handlers that run in it. Not recursive.
//
// Taking and releasing it costs one atomic exchange. It is held so briefly that no waiter needs to
// be woken: waiting spins, then yields the core, then sleeps for moments, so that a holder of lower
// priority can finish.
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

}  // namespace am
