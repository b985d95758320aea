#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "am/sync/backoff.h"
#include "shmem/doorbell.h"
#include "shmem/flag.h"
#include "shmem/ring.h"

namespace bench {

// A word of payload and the number that says that it is there, for each direction.
struct alignas(shmem::kCacheLine) Line {
  std::uint64_t payload_there;
  std::atomic<std::uint64_t> there;
  std::uint64_t payload_back;
  std::atomic<std::uint64_t> back;
};
static_assert(sizeof(Line) == shmem::kCacheLine);

// A flag whose neighbours are far enough not to be fetched with it: some processors fetch lines by
// pairs.
struct alignas(4 * shmem::kCacheLine) LoneFlag : shmem::Flag {};

// What the loops that use no library share: it lies in the segment of rank 0. All zero at first,
// and every number in it only grows.
struct Board {
  static constexpr std::size_t kBytes = 28672;
  static constexpr std::uint32_t kRingSlots = 64;

  LoneFlag met[2];           // Pair::meet(), by rank
  LoneFlag flag[2];          // flag round trips and payloads, by direction
  LoneFlag barrier[2];       // by rank
  LoneFlag consumed;         // of the ring
  shmem::Flag stored;        // bytes, by rank 0; for raw stores
  LoneFlag turn;             // Messages::overheads(): phases that have ended
  LoneFlag number;           // ... and what rank 1 measured
  alignas(4096) Line line;   // one_line()
  alignas(4096) Line probe;  // Pair::probe()
  alignas(4096) Line ring[kRingSlots];
  alignas(4096) shmem::Slot flood[kRingSlots];  // requests and replies
  shmem::Doorbell bells[2];                     // of the flood, by rank; nobody sleeps
};
static_assert(sizeof(Board) <= Board::kBytes);

// Waits for `condition`, giving the core away now and then in case the other process needs it.
// A pause between two looks leaves the line alone until the other side has written it: 230 ns there
// and back with a line per direction instead of 270, and no difference with one line for both.
template <bool kPause = true, class Condition>
inline void spin_until(Condition&& condition) {
  constexpr int kLooks = 20000;
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      if (condition()) return;
      if constexpr (kPause) am::Backoff::pause();
    }
    sched_yield();
  }
}

}  // namespace bench
