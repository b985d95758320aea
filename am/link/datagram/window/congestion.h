#pragma once

#include <algorithm>
#include <cstdint>

#include "am/link/datagram/window/wire.h"

namespace am::link::window {

// How long datagrams and their acknowledgements take, from samples (RFC 6298, RFC 9002 section 5).
//
// Pure logic. Thread rule: the link's.
class RoundTrip {
 public:
  struct Options {
    std::int64_t initial_ns = 10'000'000;     // assumed before the first sample
    std::int64_t variance_ns = 250'000;       // at least so much is allowed for variation
    std::int64_t longest_ns = 1'000'000'000;  // of a timeout
  };

  explicit RoundTrip(const Options& options) noexcept : options_(options) {}

  // A datagram has been acknowledged `ns` after it was sent, the time that its receiver held the
  // acknowledgement back left out.
  void sample(std::int64_t ns) noexcept {
    ns = std::max<std::int64_t>(ns, 1);
    latest_ns_ = ns;
    least_ns_ = least_ns_ == 0 ? ns : std::min(ns, least_ns_ + least_ns_ / 16 + 1);
    if (smoothed_ns_ == 0) {
      smoothed_ns_ = ns;
      variation_ns_ = ns / 2;
      return;
    }
    const std::int64_t error = ns - smoothed_ns_;
    variation_ns_ += ((error < 0 ? -error : error) - variation_ns_) / 4;
    // Down quickly from where pauses of a process have led: what takes long is not the network.
    const std::int64_t part = ns < smoothed_ns_ / 4 ? 2 : 8;
    smoothed_ns_ = std::max<std::int64_t>(smoothed_ns_ + error / part, 1);
  }

  bool known() const noexcept { return smoothed_ns_ != 0; }
  std::int64_t smoothed_ns() const noexcept { return known() ? smoothed_ns_ : options_.initial_ns; }

  // About the least of the last samples: what the network takes when no process lets it wait.
  std::int64_t least_ns() const noexcept { return known() ? least_ns_ : options_.initial_ns; }

  // How long after it was sent an unacknowledged datagram is to be considered lost when a later one
  // has arrived: an eighth longer than a round trip takes, for datagrams that overtake others.
  std::int64_t reordering_ns() const noexcept {
    const std::int64_t ns = std::max(smoothed_ns(), latest_ns_);
    return ns + ns / 8;
  }

  // How long to wait for any answer, the `backoff`-th time in a row (from 0): each is twice as long
  // as the one before. `held_ns`: how long the receiver may hold an acknowledgement back.
  std::int64_t timeout_ns(unsigned backoff, std::int64_t held_ns) const noexcept {
    const std::int64_t once =
        smoothed_ns() + std::max(4 * variation_ns_, options_.variance_ns) + held_ns;
    if (once >= options_.longest_ns >> std::min(backoff, kMostDoublings)) {
      return options_.longest_ns;
    }
    return once << std::min(backoff, kMostDoublings);
  }

 private:
  static constexpr unsigned kMostDoublings = 40;

  const Options options_;
  std::int64_t smoothed_ns_ = 0;  // 0: no sample yet
  std::int64_t variation_ns_ = 0;
  std::int64_t latest_ns_ = 0;
  std::int64_t least_ns_ = 0;
};

// How many datagrams may be in flight to one receiver, so that the network between is not
// overloaded: additive increase, multiplicative decrease, with a slow start (RFC 5681), counted in
// datagrams.
//
// A loss makes it smaller once per round trip, to 0.7 of what it was, and not below kLeast: on a
// link that loses datagrams for other reasons a window of one or two costs most of the rate and
// relieves no congestion. Only when nothing at all is heard until the timeout twice in a row
// (persistent congestion) does it become one datagram, and doubles each round trip from there; if
// it turns out that nothing was lost, and the receiver had only not polled (Eifel, RFC 4015), the
// window is restored.
//
// Pure logic. Thread rule: the link's.
class Congestion {
 public:
  static constexpr std::uint32_t kInitial = 16;
  static constexpr std::uint32_t kLeast = 8;
  static constexpr std::uint32_t kMost = kWindow;

  std::uint32_t window() const noexcept { return window_; }
  bool in_slow_start() const noexcept { return window_ < threshold_; }

  // So many have been acknowledged, the newest of which was sent at `sent_ns`. `limited`: more
  // would have been sent if the window were larger.
  void acknowledged(std::uint32_t count, std::int64_t sent_ns, bool limited) noexcept {
    if (!limited || sent_ns <= recovery_ns_) return;
    if (in_slow_start()) {
      window_ = std::min(window_ + count, std::min(threshold_, kMost));
      return;
    }
    since_growth_ += count;
    if (since_growth_ < window_) return;
    since_growth_ -= window_;
    window_ = std::min(window_ + 1, kMost);
  }

  // One that was sent at `sent_ns` has been lost.
  void lost(std::int64_t sent_ns, std::int64_t now_ns) noexcept {
    if (sent_ns <= recovery_ns_) return;  // as others of the same round trip, or collapsed since
    recovery_ns_ = now_ns;
    threshold_ = std::max(window_ * 7 / 10, kLeast);
    window_ = std::min(window_, threshold_);
    since_growth_ = 0;
  }

  // Nothing has been heard until the timeout, the `count`-th time in a row (from 1).
  void timed_out(unsigned count, std::int64_t now_ns) noexcept {
    if (count < kPersistent) return;
    if (count == kPersistent) {
      before_ = {window_, threshold_};
      threshold_ = std::max(window_ / 2, kLeast);
    }
    recovery_ns_ = now_ns;
    window_ = 1;
    since_growth_ = 0;
  }

  // What was sent before the first timeout of the last series has arrived.
  void undo_timeouts() noexcept {
    window_ = std::max(window_, before_.window);
    threshold_ = std::max(threshold_, before_.threshold);
    before_ = {};
  }
  // A series of timeouts is over that meant something.
  void keep_timeouts() noexcept { before_ = {}; }

 private:
  static constexpr unsigned kPersistent = 2;

  std::uint32_t window_ = kInitial;
  std::uint32_t threshold_ = kMost;
  std::uint32_t since_growth_ = 0;  // acknowledged since the window has grown
  std::int64_t recovery_ns_ = -1;   // what was sent until then has been responded to
  struct Before {
    std::uint32_t window = 0;
    std::uint32_t threshold = 0;
  };
  Before before_;  // a series of timeouts; 0: there is none
};

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
