#pragma once

#include <cstdint>

namespace am {

// What the receiver's end of a channel makes of puts and of ready(): pure logic.
//
//   armed      a put is reported by the callback        (from the beginning, and after ready_poll)
//   delivered  the callback has been called, the buffer is in use
//   marked     the buffer is free, a put is remembered  (after ready_mark)
//
// A put is never lost as long as one is under way at a time. One that comes too early, while the
// buffer is in use, has damaged what is there; it is reported once the channel is armed again. Of
// several that come before one can be reported, one is.
class ChannelPhase {
 public:
  // What is to be done, and what was wrong about it.
  enum class Next : std::uint8_t { kCall, kRemember };
  enum class Wrong : std::uint8_t { kNothing, kEarly, kLost, kReadyTwice, kNotMarked };
  struct Step {
    Next next;
    Wrong wrong;
  };

  // `puts` have come since the last time, at least one. kCall: call back, after called().
  Step arrive(std::uint32_t puts) noexcept {
    const bool several = puts > 1 || waiting_;
    const bool early = phase_ == Phase::kDelivered;
    const bool call = phase_ == Phase::kArmed;
    waiting_ = true;
    return {call ? Next::kCall : Next::kRemember, several ? Wrong::kLost
                                                  : early ? Wrong::kEarly
                                                          : Wrong::kNothing};
  }
  void called() noexcept {
    phase_ = Phase::kDelivered;
    waiting_ = false;
    used_ = true;
  }

  // Without effect where it is wrong. Before the first put the channel is armed anyway.
  Wrong mark() noexcept {
    if (phase_ != Phase::kDelivered) return used_ ? Wrong::kReadyTwice : Wrong::kNothing;
    phase_ = Phase::kMarked;
    return Wrong::kNothing;
  }
  // kCall: a put that came before is to be reported now.
  Step poll() noexcept {
    if (phase_ == Phase::kDelivered) return {Next::kRemember, Wrong::kNotMarked};
    if (phase_ == Phase::kArmed) {
      return {Next::kRemember, used_ ? Wrong::kReadyTwice : Wrong::kNothing};
    }
    phase_ = Phase::kArmed;
    return {waiting_ ? Next::kCall : Next::kRemember, Wrong::kNothing};
  }

  bool in_use() const noexcept { return phase_ == Phase::kDelivered; }
  // A put may come, and finds nothing that it would overwrite.
  bool free() const noexcept { return !in_use() && !waiting_; }
  // A put that has come is to be reported now.
  bool due() const noexcept { return phase_ == Phase::kArmed && waiting_; }

 private:
  enum class Phase : std::uint8_t { kArmed, kDelivered, kMarked };

  Phase phase_ = Phase::kArmed;
  bool waiting_ = false;  // a put has come that has not been reported
  bool used_ = false;     // one has been reported
};

}  // namespace am
