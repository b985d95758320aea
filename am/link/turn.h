// What every link's poll does alike: it gathers small packets, and ends in time.
#pragma once

#include <cstdint>

#include "am/types/clock.h"

namespace am::link {

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
