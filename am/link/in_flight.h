#pragma once

#include <cstdint>

namespace am::link {

// How many operations may be in flight at a time, so that a peer which does not poll cannot take
// the room of the others: each peer has `reserved` places of its own, and beyond these at most
// `per_peer` - `reserved` of the `shared` places that all have together.
//
// Pure logic. Thread rule: the link's.
class InFlight {
 public:
  struct Limits {
    std::uint32_t reserved;  // at least 1
    std::uint32_t per_peer;  // at least `reserved`
    std::uint32_t shared;
  };
  // What one peer has in flight.
  struct Share {
    std::uint32_t in_flight = 0;
  };

  explicit InFlight(const Limits& limits) noexcept : limits_(limits) {}

  // The most that can be in flight to `peers` peers together.
  static constexpr std::size_t most(const Limits& limits, std::size_t peers) noexcept {
    const std::size_t each = std::size_t{limits.per_peer} * peers;
    const std::size_t together = limits.shared + std::size_t{limits.reserved} * peers;
    return each < together ? each : together;
  }

  bool available(const Share& share) const noexcept {
    return share.in_flight < limits_.reserved ||
           (share.in_flight < limits_.per_peer && shared_in_use_ < limits_.shared);
  }
  // One more; only if available().
  void take(Share& share) noexcept {
    if (share.in_flight++ >= limits_.reserved) ++shared_in_use_;
    ++total_;
  }
  // One is complete.
  void give_back(Share& share) noexcept {
    if (--share.in_flight >= limits_.reserved) --shared_in_use_;
    --total_;
  }
  std::uint32_t total() const noexcept { return total_; }  // to all peers

 private:
  const Limits limits_;
  std::uint32_t shared_in_use_ = 0;
  std::uint32_t total_ = 0;
};

}  // namespace am::link
