#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "am/types/types.h"

namespace am {

// Which processes of the job have died, in one that goes on without them. It only grows. The thread
// that notes a death raises the alert of this process's doorbell (shmem::Doorbell::alert()), so
// that endpoints, which check that in every poll anyway, and sleeping threads notice it.
//
// Thread rule: any.
class Deaths {
 public:
  explicit Deaths(std::uint32_t size) : size_(size), dead_(new std::atomic<pid_t>[size] {}) {}

  // `rank`, whose process was `pid`, has died. False: that was known.
  // pairs with: count(); a thread that sees the count sees the rank
  bool note(Rank rank, pid_t pid) noexcept {
    pid_t living = 0;
    if (!dead_[rank].compare_exchange_strong(living, pid, std::memory_order_relaxed)) return false;
    count_.fetch_add(1, std::memory_order_release);
    return true;
  }

  // How many have died.
  // pairs with: note()
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  bool has(Rank rank) const noexcept { return pid(rank) != 0; }
  // The process of a rank that has died; else 0.
  pid_t pid(Rank rank) const noexcept { return dead_[rank].load(std::memory_order_relaxed); }
  // The lowest rank that has died; std::nullopt: all live.
  std::optional<Rank> first() const noexcept {
    for (Rank rank = 0; count() != 0 && rank < size_; ++rank) {
      if (has(rank)) return rank;
    }
    return std::nullopt;
  }

 private:
  const std::uint32_t size_;
  const Owned<std::atomic<pid_t>[]> dead_;  // by rank: its pid; 0: it lives
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace am
