#pragma once

#include <algorithm>
#include <cstdint>

#include "am/link/datagram/window/wire.h"

namespace am::link::window {

// How many datagrams may be in flight to one receiver, so that the network between is not
// overloaded: additive increase, multiplicative decrease, with a slow start (RFC 5681), counted in
// datagrams.
//
// A loss makes it smaller once per round trip, to 0.7 of what it was, and not below kLeast: on a
// link that loses datagrams for other reasons a window that goes down to one or two costs most of
// the rate and relieves nobody. Only when twice in a row nothing at all is heard until the timeout
// (persistent congestion) is it one datagram, and doubles each round trip from there; unless it
// turns out that nothing was lost, and the receiver had only not looked (Eifel, RFC 4015): then it
// is as it was.
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

}  // namespace am::link::window
