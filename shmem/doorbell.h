#pragma once

#include <atomic>
#include <cstdint>

#include "shmem/fence.h"

// How a process sleeps until a neighbour has something for it.
//
// Sleeper:                               Neighbour:
//   ticket = doorbell.about_to_sleep()     write the message
//   fence.heavy()                          doorbell.notify(fence): light fence,
//   if (nothing has come)                    asleep? then ring
//     doorbell.sleep(ticket, timeout)
//
// Either the sleeper finds the message or the neighbour finds the sleeper; a ring between the two
// changes the ticket, so the futex refuses to sleep. Who rings takes the "asleep" back, so that the
// next neighbours do not ring again while the sleeper is on its way up; a sleeper that did not
// sleep after all leaves it, at the price of one ring for nobody. Lives in shared memory; all zero
// is valid.

namespace shmem {

class alignas(64) Doorbell {
 public:
  static constexpr std::int64_t kForever = -1;

  // By a neighbour, after it has written what the owner may be waiting for. Costs one load while
  // the owner is awake. Any thread of any process.
  // pairs with: about_to_sleep() and the sleeper's Fence::heavy()
  void notify(const Fence& fence) noexcept {
    fence.light();
    if (asleep_.load(std::memory_order_relaxed) != 0) ring();
  }

  // Wakes every sleeping thread of the owner; returns at once if there is none.
  void ring() noexcept;

  // By the owner; any of its threads. The ticket is for one sleep().
  std::uint32_t about_to_sleep() noexcept;
  // Sleeps until somebody rings, or `timeout_ns` have passed (kForever: no limit), or a signal
  // came. May wake without reason: look again.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;

 private:
  friend class DoorbellSocket;

  std::atomic<std::uint32_t> asleep_;  // not 0: somebody may sleep who has not been rung for
  std::atomic<std::uint32_t> rings_;   // the futex: changes with every ring
  std::atomic<std::uint64_t> socket_;  // 0, or the name of the owner's DoorbellSocket
};
static_assert(sizeof(Doorbell) == 64);

// For an owner that sleeps on descriptors: from its construction on, who rings the bell makes this
// one readable as well. (A Unix datagram socket without a name in the file system. Neighbours are
// in the same network namespace, see shmem::NodeId.)
class DoorbellSocket {
 public:
  explicit DoorbellSocket(Doorbell& bell);  // throws Error if there can be no socket
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
