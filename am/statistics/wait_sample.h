#pragma once

#include <cstdint>

namespace am {

// Which waits of a thread are timed from their beginning: reading a clock twice costs as much as a
// neighbour's answer takes. The first ones are, and later one in 64 by chance, which stands for 64;
// but again all of the next ones after one that took long. So the sum is right on the average,
// whatever the pattern of the program, and what is uncertain of it is made of very short times.
//
// (What is chosen depends on earlier waits only, so weights undo it: a Horvitz-Thompson estimator.)
class WaitSample {
 public:
  static constexpr std::uint32_t kOneIn = 64;
  static constexpr std::uint32_t kFirst = 1000;
  static constexpr std::uint32_t kAfterLong = 256;
  static constexpr std::int64_t kLongNs = 2000;

  // For how many waits the next one stands; 0: it is not timed.
  std::uint32_t next() noexcept {
    if (all_ != 0) {
      --all_;
      return 1;
    }
    chance_ = chance_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's, of MMIX
    return chance_ >> 58 == 0 ? kOneIn : 0;
  }
  // What was timed took so long.
  void took(std::int64_t ns) noexcept {
    if (ns >= kLongNs && all_ < kAfterLong) all_ = kAfterLong;
  }

 private:
  std::uint64_t chance_ = 1;
  std::uint32_t all_ = kFirst;  // so many more are timed all
};
static_assert(WaitSample::kOneIn == 1u << (64 - 58));

}  // namespace am
