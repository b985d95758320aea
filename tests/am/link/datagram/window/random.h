#pragma once

#include <cstdint>

namespace am::link::window {

// Small and fast, and as long as its state: a run of the simulation begins with a new one
// (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // 0 to limit - 1.
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool percent(unsigned chance) noexcept { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace am::link::window
