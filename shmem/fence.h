#pragma once

#include <atomic>

// A store-then-load fence that is free for the side that runs it often.
//
// A sender writes a message and then asks "is the receiver asleep?"; a receiver says "I go to
// sleep" and then asks "is there a message?". One of the two must see the other, which takes a full
// fence on both sides -- and a full fence makes the sender wait until its store has left the store
// buffer, about the time of a cache miss, on every message. membarrier(2) lets the rare side pay
// for both: heavy() runs a full fence on every core where an enrolled process runs, so light() need
// only stop the compiler. Where the kernel refuses it to any process of the job, both sides use a
// fence.
//
// The kernel leaves a gap. Linux (seen in 6.18, since about 5.10) notes for each core whether it
// runs somebody enrolled, and only when it goes from one process to another. When a thread of an
// enrolled process ends it notes that there is nobody; and a process may enroll after it has run on
// another core, to which it comes back. Until another process runs there, heavy() passes over that
// core. What its thread has stored is in the store buffer still, and becomes visible within
// microseconds, at the latest at the core's next interrupt. So nobody relies on a single check
// after heavy(): a sleeper checks again soon (SleepLimit), and a receiver that drops a place polls
// it a while longer (shmem/attention.h).

namespace shmem {

class Fence {
 public:
  // Asks the kernel to include this process in the heavy fences of others; false: refused.
  // Call it once per process, before the first message; any thread.
  static bool enroll() noexcept;

  // `kernel_assists`: every process of the job was enrolled. All must pass the same value.
  explicit Fence(bool kernel_assists = false) noexcept : kernel_assists_(kernel_assists) {}

  // Between a store and a following load, on the frequent side.
  // pairs with: heavy()
  void light() const noexcept {
    if (kernel_assists_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }

  // Between a store and a following load, on the rare side: some microseconds.
  // pairs with: light()
  void heavy() const noexcept;

  bool kernel_assists() const noexcept { return kernel_assists_; }

 private:
  bool kernel_assists_;
};

}  // namespace shmem
