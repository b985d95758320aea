#pragma once

#include <cstddef>

#include "am/observe/activity.h"
#include "shmem/arrival_board.h"
#include "shmem/doorbell.h"
#include "shmem/flag.h"

namespace am {

// The beginning of every process's region; behind it lies the segment. All zero at first.
struct RegionHeader {
  static constexpr std::size_t kBytes = 4096 + sizeof(shmem::ArrivalBoard);
  static constexpr int kRounds = 24;  // ranks have 24 bits in a global pointer

  // That of the region whose segment begins there.
  static RegionHeader& of(std::byte* segment) noexcept {
    return *reinterpret_cast<RegionHeader*>(segment - kBytes);
  }

  shmem::Doorbell bell;           // rung by neighbours that have something for this process
  shmem::Flag rounds[kRounds];    // am/collective/barrier.h
  shmem::SharedCounter arrivals;  // ... of rank 0 only
  shmem::Flag released;           // ... of rank 0 only
  shmem::SharedCounter more[2];   // ... of rank 0 only; of barriers with even and odd numbers
  Activity activity;              // unless the launcher has a place for it
  shmem::ArrivalBoard puts;       // on channels
};
static_assert(sizeof(RegionHeader) == RegionHeader::kBytes);

}  // namespace am
