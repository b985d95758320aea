#pragma once

#include <algorithm>
#include <cstdint>

namespace am::link::window {

// Spreads datagrams over the round trip, so that a whole window does not arrive at the receiver, or
// at a switch, in one burst: a token bucket of kBurst datagrams that fills at 1.25 times the rate
// that the window allows, twice that rate in slow start (RFC 9002 section 7.7).
//
// Pure logic. Thread rule: the link's.
class Pacer {
 public:
  static constexpr std::int64_t kBurst = 32;

  // The rate is `window` datagrams in `round_trip_ns`, and was so for what has been sent: a slower
  // one before is no reason to wait.
  void set_rate(std::uint32_t window, std::int64_t round_trip_ns, bool slow_start,
                std::int64_t now_ns) noexcept {
    interval_ns_ = round_trip_ns * 4 / (std::int64_t{window} * (slow_start ? 8 : 5));
    next_ns_ = std::min(next_ns_, now_ns + kBurst * interval_ns_);
  }

  bool may_send(std::int64_t now_ns) const noexcept { return now_ns >= ready_ns(); }
  // When it may send; a time in the past: now.
  std::int64_t ready_ns() const noexcept { return next_ns_ - (kBurst - 1) * interval_ns_; }
  void sent(std::int64_t now_ns) noexcept { next_ns_ = std::max(next_ns_, now_ns) + interval_ns_; }

 private:
  std::int64_t interval_ns_ = 0;  // between two datagrams
  // When the next one would be sent if all were sent at intervals: kBurst - 1 of them may be early.
  std::int64_t next_ns_ = 0;
};

}  // namespace am::link::window
