#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/am/link/forwarder/weather.h"

namespace am::link::test {

// A path between two hosts for IP packets, in both directions, and the weather on it. Pure logic:
// what is sent, and when, is up to the caller's clock.
class Path {
 public:
  struct Stats {
    std::uint64_t datagrams = 0;  // that were sent into it
    std::uint64_t others = 0;     // packets that are none
    std::uint64_t dropped = 0;    // by chance
    std::uint64_t cut_off = 0;    // by the partition
    std::uint64_t doubled = 0;
    std::uint64_t overtaken = 0;  // have left after one that was sent later
    std::uint64_t damaged = 0;
    std::uint64_t paused = 0;  // have waited for the end of the pause
  };

  explicit Path(const Weather& weather) : weather_(weather), random_(weather.seed) {}

  // A packet is sent from side 0 or 1 to the other.
  void accept(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns);

  // Calls send(from, packet) for what has arrived by now.
  template <class Send>
  void release(std::int64_t now_ns, Send&& send) {
    if (now_ns < paused_until_ns_) return;
    // In the order in which they came, so nothing that is due overtakes anything else that is.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (is_due(held_[i], now_ns)) {
        note_sent(held_[i]);
        send(held_[i].from, std::span<const std::byte>(held_[i].packet));
        continue;
      }
      if (kept != i) held_[kept] = std::move(held_[i]);
      ++kept;
    }
    held_.resize(kept);
  }
  // When something is due next, if nothing is sent before; -1: never.
  std::int64_t next_ns() const noexcept;

  const Stats& stats() const noexcept { return stats_; }

 private:
  // What others shall overtake waits for some of them, but not longer than this.
  static constexpr unsigned kOvertaking = 4;
  static constexpr std::int64_t kBehindNs = 2'000'000;

  struct Held {
    unsigned from = 0;
    std::int64_t at_ns = 0;
    std::uint64_t number = 0;  // of a datagram in its direction; 0: of none
    std::uint64_t behind = 0;  // due, too, when so many datagrams have been sent in its direction
    std::vector<std::byte> packet = {};
  };

  bool happens(unsigned percent) noexcept { return random_() % 100 < percent; }
  void accept_datagram(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns);
  void accept_copy(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns);
  void hold(Held held, std::int64_t now_ns);
  void begin_what_is_due(std::int64_t now_ns) noexcept;
  bool is_due(const Held& held, std::int64_t now_ns) const noexcept;
  void note_sent(const Held& held) noexcept;

  const Weather weather_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
  std::int64_t partition_until_ns_ = 0;
  std::int64_t paused_until_ns_ = 0;
  std::array<std::uint64_t, 2> sent_{};  // datagrams, by direction
  std::array<std::uint64_t, 2> last_{};  // the highest number that has left
  Stats stats_;
};

}  // namespace am::link::test
