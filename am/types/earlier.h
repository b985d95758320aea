#pragma once

#include <algorithm>
#include <cstdint>

namespace am {

// The earlier of two times, or the shorter of two durations. A negative one is none.
constexpr std::int64_t earlier(std::int64_t a, std::int64_t b) noexcept {
  return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace am
