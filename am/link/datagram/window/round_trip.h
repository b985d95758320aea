#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace am::link::window
