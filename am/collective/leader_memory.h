#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/link/link.h"
#include "am/types/owned.h"

namespace am {

class Port;

// Memory of this node's leader into which the leaders of other nodes write what a payload carries,
// if that is much and the network writes memory itself and in order with packets. So it moves
// without being cut into packets, and without a copy at either end.
//
// There is a half for barriers of even number and one for those of odd: who writes for a barrier
// has passed the one before, which this process entered when it was done with the one before that.
//
// Thread rule: the barrier's.
class LeaderMemory {
 public:
  static constexpr std::size_t kHalf = std::size_t{1} << 20;  // bytes

  // Whether the network of `port` can do it.
  static bool works(Port& port) noexcept;
  // Allocates and registers it, inside the port. Throws Error if no more can be registered. `port`
  // outlives it.
  explicit LeaderMemory(Port& port);
  ~LeaderMemory();
  LeaderMemory(const LeaderMemory&) = delete;
  LeaderMemory& operator=(const LeaderMemory&) = delete;

  // What the other leaders must know, and theirs, by node.
  link::RemoteKey key() const noexcept { return registration_->key(); }
  void introduce(std::vector<link::RemoteKey> keys) noexcept { keys_ = std::move(keys); }

  std::span<std::byte> half(std::uint64_t epoch) noexcept {
    return std::span(memory_).subspan(epoch % 2 * kHalf, kHalf);
  }
  link::RemoteKey half_of(std::uint32_t node, std::uint64_t epoch) const noexcept {
    return keys_[node] + epoch % 2 * kHalf;
  }

 private:
  Port& port_;
  std::vector<std::byte> memory_;
  Owned<link::Registration> registration_;
  std::vector<link::RemoteKey> keys_;
};

}  // namespace am
