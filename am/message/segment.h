#pragma once

#include <cstdint>

namespace am {

// The memory that one endpoint opens to Long messages: part of its process's segment, where those
// who send write it, or memory elsewhere, to which the process itself copies what they have sent.
struct Extent {
  std::uint64_t offset = 0;  // from the start of the process's segment; or kElsewhere
  std::uint64_t bytes = 0;

  // In place of an offset, and the highest bit of what is an offset plus kElsewhere.
  static constexpr std::uint64_t kElsewhere = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kMostElsewhere = kElsewhere - 1;  // bytes
  static constexpr bool is_elsewhere(std::uint64_t at) noexcept { return (at & kElsewhere) != 0; }

  // Whether [at, at + count) lies inside; at is relative to the extent.
  bool holds(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes && count <= bytes - at;
  }
};

}  // namespace am
