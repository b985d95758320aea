#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

// How a process sleeps until a neighbour has something for it.
//
// Sleeper:                               Neighbour:
//   ticket = doorbell.about_to_sleep()     write the message
//   fence.heavy()                          doorbell.notify(fence): light fence,
//   if (nothing has come)                    asleep? then ring
//     doorbell.sleep(ticket, limit.next(ticket))
//
// Either the sleeper finds the message or the neighbour finds the sleeper (but for the gap that
// Fence has, for which there is a limit). A ring between the two changes the ticket, so the futex
// refuses to sleep. The neighbour that rings clears the "asleep" mark, so that others do not ring
// again while the sleeper is waking up; a sleeper that did not sleep after all leaves it set, at
// the cost of one useless ring. (tests/shmem/model checks this in all states.)
//
// For events too rare to be checked for at every poll (a message has come back, a mailbox has been
// closed) there is a count of alerts: a poll compares it with the count it has seen, and searches
// for the event only when it has changed.
//
// Lives in shared memory; all zero is valid.

namespace shmem {

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

// How long the next of several sleeps lasts at most: 1 ms after a ring, so that the next poll soon
// finds what Fence::heavy() has missed. Then twice as long as the last, up to 1 s, as
// long as nobody rings: a neighbour that wrote after the first poll has found the sleeper
// registered.
class SleepLimit {
 public:
  static constexpr std::int64_t kShortestNs = 1'000'000;
  static constexpr std::int64_t kLongestNs = 1'000'000'000;

  // Of the sleep with that ticket.
  std::int64_t next(std::uint32_t ticket) noexcept {
    if (ticket != ticket_) ns_ = kShortestNs;
    ticket_ = ticket;
    return std::exchange(ns_, 2 * ns_ < kLongestNs ? 2 * ns_ : kLongestNs);
  }

 private:
  std::uint32_t ticket_ = 0;
  std::int64_t ns_ = kShortestNs;
};

class alignas(64) Doorbell {
 public:
  // By a neighbour, after it has written what the owner may be waiting for. Costs one load while
  // the owner is awake. Any thread of any process.
  // pairs with: about_to_sleep() and the sleeper's Fence::heavy()
  void notify(const Fence& fence) noexcept {
    fence.light();
    notify_after_fence();
  }
  // Notifies on behalf of who has had that fence after it has written, or will look again after
  // one.
  void notify_after_fence() noexcept {
    if (asleep_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring();
  }

  // Whether that would ring; after that fence, too.
  bool may_be_asleep() const noexcept { return asleep_.load(std::memory_order_relaxed) != 0; }

  // Notifies of a rare event: every thread of the owner that polls searches for what it may be.
  // pairs with: alerts()
  void alert(const Fence& fence) noexcept {
    alerts_.fetch_add(1, std::memory_order_release);
    notify(fence);
  }
  // By the owner: alerts so far. A thread that has seen an alert sees what its sender wrote before.
  // pairs with: alert()
  std::uint64_t alerts() const noexcept { return alerts_.load(std::memory_order_acquire); }

  // Wakes every sleeping thread of the owner; returns at once if there is none.
  void ring() noexcept;

  // By the owner; any of its threads. The ticket is for one sleep().
  std::uint32_t about_to_sleep() noexcept;
  // Sleeps until somebody rings, or `timeout_ns` (from 0) have passed, or a signal came. May wake
  // spuriously: poll again.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;
  // Whether somebody has rung since: for who sleeps on a DoorbellSocket, which another thread may
  // have made quiet.
  bool rung_since(std::uint32_t ticket) const noexcept {
    return rings_.load(std::memory_order_seq_cst) != ticket;  // pairs with: ring()
  }

 private:
  friend class DoorbellSocket;

  std::atomic<std::uint32_t> asleep_;  // not 0: a thread may sleep, and nobody has rung for it
  std::atomic<std::uint32_t> rings_;   // the futex: changes with every ring
  std::atomic<std::uint64_t> socket_;  // 0, or the name of the owner's DoorbellSocket
  std::atomic<std::uint64_t> alerts_;
};
static_assert(sizeof(Doorbell) == 64);

// For an owner that sleeps on descriptors: from its construction on, who rings the bell makes this
// one readable as well. (A Unix datagram socket without a name in the file system. Neighbours are
// in the same network namespace, see shmem::NodeId.)
class DoorbellSocket {
 public:
  // Makes, too, the socket by which this process will ring others. Throws Error if there can be no
  // socket, or one cannot send to another.
  explicit DoorbellSocket(Doorbell& bell);
  ~DoorbellSocket();
  DoorbellSocket(const DoorbellSocket&) = delete;
  DoorbellSocket& operator=(const DoorbellSocket&) = delete;

  int fd() const noexcept { return fd_; }
  // Takes back all rings so far.
  void quiet() noexcept;

 private:
  Doorbell& bell_;
  int fd_;
};

}  // namespace shmem
