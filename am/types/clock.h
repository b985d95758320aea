#pragma once

#include <chrono>
#include <cstdint>

namespace am {

// Nanoseconds since some moment in the past. Any thread.
inline std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace am
