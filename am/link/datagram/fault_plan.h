#pragma once

#include <cstdint>

namespace am::link {

// What is to go wrong with datagrams that this process sends (SPLITC_FAULT): how many of a million,
// chosen at random from a seed; of a reliable link's packets, that they are late. For tests of what
// is above.
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

}  // namespace am::link
