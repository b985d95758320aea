#pragma once

#include <chrono>

namespace bench {

// Nanoseconds since some moment in the past, on a clock that never goes back.
inline double now_ns() noexcept {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// How long the one behind it took.
class Stopwatch {
 public:
  double ns() const noexcept { return now_ns() - start_; }

 private:
  double start_ = now_ns();
};

}  // namespace bench
