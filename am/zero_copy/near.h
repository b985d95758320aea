#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "am/route/router.h"
#include "am/table/sparse_table.h"
#include "am/types/types.h"
#include "shmem/cross_memory.h"
#include "shmem/region.h"

namespace am::zero_copy {

inline constexpr std::uint32_t kMaxSlots = 1 << 20;  // buffers of a process at a time

// What the processes of one node see of each other's buffers: the segments, the pools, a board that
// says which buffers there are, and, where the system allows it, all other memory.
//
// Thread rule: the bundle's.
class Neighbours {
 public:
  // What each process gives to the others at the start.
  struct Card {
    shmem::Region::Address region;  // board and pool
    std::uint64_t segment;          // where that process has it
    std::uint64_t pool;
    std::uint64_t known_word;
  };

  // Throws Error if there is no memory for board and pool.
  Neighbours(const Router& router, std::size_t pool_bytes);
  Neighbours(const Neighbours&) = delete;  // the others know where known_word_ is
  Neighbours& operator=(const Neighbours&) = delete;

  Card card() const noexcept;
  void open(Rank rank, const Card& card);

  std::span<std::byte> pool() const noexcept { return pool_; }

  // Opens this process's buffer `slot` to others as that of `generation`; 0 closes it.
  void publish(std::uint32_t slot, std::uint32_t generation) noexcept;
  bool current(Rank rank, std::uint32_t slot, std::uint32_t generation) const noexcept;

  // Where memory of a neighbour is mapped here; nullptr: nowhere.
  std::byte* mapped(Rank rank, std::uint64_t address, std::size_t bytes) const noexcept;

  // The neighbour whose memory can be reached through the kernel, found out by trying; nullptr: it
  // cannot.
  const shmem::CrossMemory* cross_memory(Rank rank);
  // Whether the kernel reaches it, asked anew after a failure.
  bool still_crosses(Rank rank);

 private:
  enum class Crossing : std::uint8_t { kUnknown, kWorks, kRefused };
  struct Neighbour {
    shmem::Region region;
    Card card{};
    shmem::CrossMemory memory{0};
    Crossing crossing = Crossing::kUnknown;
  };

  const Router& router_;
  const std::uint64_t known_word_ = shmem::CrossMemory::kKnownWord;
  shmem::Region own_;
  std::span<std::byte> pool_;
  std::deque<Neighbour> all_;           // of this node
  SparseTable<Neighbour*> neighbours_;  // by rank, in all_; nullptr for those of other nodes
};

}  // namespace am::zero_copy
