#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/types/clock.h"
#include "am/types/types.h"

namespace am::link {

// What is to go wrong with datagrams that this process sends (SPLITC_FAULT): how many of a million,
// chosen at random from a seed; of a reliable link's packets, that they are late. For tests of what
// is above. am/job/config/variables.cc gives each a name.
struct FaultPlan {
  std::uint32_t drop = 0;     // never arrive
  std::uint32_t dup = 0;      // arrive twice
  std::uint32_t reorder = 0;  // arrive after some that are sent later
  std::uint32_t corrupt = 0;  // arrive with a bit changed, or cut
  std::int64_t delay_ns = 0;  // all arrive later, by a random time up to that
  std::uint64_t seed = 1;

  bool any() const noexcept { return loses() || delay_ns != 0; }
  // Something that a reliable network must not do.
  bool loses() const noexcept { return (drop | dup | reorder | corrupt) != 0; }
};

// Does to datagrams what a bad network does, between the window and the network.
//
// Pure logic. Thread rule: the link's.
class Faults {
 public:
  Faults(const FaultPlan& plan, Rank rank) noexcept
      : plan_(plan), random_(plan.seed * 0x9e3779b97f4a7c15 + rank) {}

  // A datagram to `to` is sent: passes on what arrives of it, now or by a later call of release(),
  // to send(to, bytes).
  template <class Send>
  void pass(Rank to, std::span<const std::byte> bytes, std::int64_t now_ns, Send&& send) {
    if (happens(plan_.drop)) return;
    for (int copies = happens(plan_.dup) ? 2 : 1; copies != 0; --copies) {
      const bool behind = happens(plan_.reorder);
      const bool changed = happens(plan_.corrupt);
      if (!behind && !changed && plan_.delay_ns == 0) {
        send(to, bytes);
        continue;
      }
      Held held{.to = to,
                .at_ns = now_ns + (behind ? kBehindNs : 0) + random_delay(),
                .bytes = {bytes.begin(), bytes.end()}};
      if (changed) damage(held.bytes);
      held_.push_back(std::move(held));
    }
    release(now_ns, send);
  }
  // Passes on what is due.
  template <class Send>
  void release(std::int64_t now_ns, Send&& send) {
    for (std::size_t i = 0; i < held_.size();) {
      if (held_[i].at_ns > now_ns) {
        ++i;
        continue;
      }
      const Held due = std::move(held_[i]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
      send(due.to, std::span<const std::byte>(due.bytes));
    }
  }
  // When the next one is due; -1: none is.
  std::int64_t next_ns() const noexcept {
    std::int64_t next = -1;
    for (const Held& one : held_) next = earlier(next, one.at_ns);
    return next;
  }

 private:
  // What others overtake is held back for so long: some datagrams of a flood.
  static constexpr std::int64_t kBehindNs = 30'000;
  static constexpr std::uint32_t kMillion = 1'000'000;

  struct Held {
    Rank to;
    std::int64_t at_ns;
    std::vector<std::byte> bytes;
  };

  std::uint64_t random() noexcept {  // splitmix64
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  bool happens(std::uint32_t chance) noexcept {
    return chance != 0 && random() % kMillion < chance;
  }
  std::int64_t random_delay() noexcept {
    if (plan_.delay_ns == 0) return 0;
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(plan_.delay_ns));
  }
  void damage(std::vector<std::byte>& bytes) noexcept {
    if (random() % 2 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
    }
  }

  const FaultPlan plan_;
  std::uint64_t random_;
  std::vector<Held> held_;
};

}  // namespace am::link
