#pragma once

#include <cstdint>

namespace am {

// The part of a process's segment that one endpoint opens to Long messages.
struct Extent {
  std::uint64_t offset = 0;  // from the start of the process's segment
  std::uint64_t bytes = 0;

  // Whether [at, at + count) lies inside; at is relative to the extent.
  bool holds(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes && count <= bytes - at;
  }
};

}  // namespace am
