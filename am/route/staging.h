#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "shmem/mailbox_layout.h"
#include "shmem/region.h"

namespace am {

// Where the payloads of long messages wait that their senders cannot write to their places: those
// for endpoints of this node whose segment is not in memory that others map. A small one waits in
// its message's slot, a larger one in a region of the sender's, which the receiver maps; the thread
// that handles the message copies it. Regions are reused, and made where none is free.
//
// One for each process. Any thread: other bundles' threads use it, too.
class Staging {
 public:
  // Bytes of a slot that are lent to a message, of its reply's payload.
  static constexpr std::size_t kInSlot = shmem::kPayloadBytes;

  // Copies `payload` to where take() finds it by what `slot` holds then. Throws shmem::Error if
  // there is no memory.
  void put(std::byte* slot, std::span<const std::byte> payload);
  // Copies a payload to `to`, which has its size. False: it cannot be mapped, or has been dropped.
  // In the process that receives it.
  [[nodiscard]] bool take(const std::byte* slot, std::span<std::byte> to) noexcept;
  // A payload of `bytes` will not be taken, or has been. In the process that sent it, or that would
  // have taken it; in both, if neither knows of the other.
  void drop(const std::byte* slot, std::size_t bytes) noexcept;

 private:
  struct Known {
    shmem::Region::Address address;
    shmem::Region region;
  };
  // What the slot holds of a payload in a region. The region begins with the ticket, from put() to
  // take() or drop(), and else with 0: so what is done twice does nothing to the next payload.
  struct Where {
    shmem::Region::Address address;
    std::uint64_t ticket;
  };
  static constexpr std::size_t kHeader = 64;
  static constexpr std::size_t kMostForeign = 64;  // that stay mapped

  static bool is_large(const Known& one) noexcept;
  const Known& free_region(std::size_t bytes);
  const shmem::Region* find(const shmem::Region::Address& address) noexcept;
  static bool release(const shmem::Region& region, std::uint64_t ticket) noexcept;

  std::mutex mutex_;  // guards the rest
  std::uint64_t tickets_ = 0;
  std::vector<Known> own_;
  std::vector<Known> foreign_;  // those of others that were used last, the latest at the end
};

}  // namespace am
