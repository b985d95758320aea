// What all links bound alike: operations in flight, how long packets are gathered, and the time of
// a poll.
#pragma once

#include <cstdint>

#include "am/types/clock.h"

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

// About what sending a small frame or datagram costs on a socket, in ns. A packet that comes sooner
// after the last send gains more by being coalesced than it loses by waiting.
inline constexpr std::int64_t kGatherNs = 4'000;

// Says that packets are gathered, for as long as it lives.
class Gathering {
 public:
  explicit Gathering(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~Gathering() { flag_ = false; }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  bool& flag_;
};

// The time that one poll() or fetch() may take: then the caller evaluates its condition, and others
// have their turn.
class TurnClock {
 public:
  // Asked after each frame or datagram.
  bool over() noexcept {
    if (++count_ < kFree) return false;
    const std::int64_t now = now_ns();
    if (count_ == kFree) begun_ns_ = now;
    return now - begun_ns_ > kMostNs;
  }

 private:
  static constexpr std::int64_t kMostNs = 200'000;
  static constexpr int kFree = 8;  // frames or datagrams, before the clock is read

  int count_ = 0;
  std::int64_t begun_ns_ = 0;
};

}  // namespace am::link
