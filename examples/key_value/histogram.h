#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace key_value {

// How often values have occurred, such as latencies in nanoseconds, in a memory that does not grow:
// exact up to 255, and above that in classes as wide as a 128th of their values. Values from 2^42
// on, more than an hour, count as the largest.
//
// The classes are those of G. Tene's HdrHistogram with 7 bits; Debian 12 has it for Java and Go
// only. Any thread, one at a time.
class Histogram {
 public:
  void add(std::uint64_t value) noexcept {
    value = std::min(value, kLargest);
    ++counts_[index_of(value)];
    max_ = std::max(max_, value);
  }

  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }
  std::uint64_t max() const noexcept { return max_; }  // exact; 0 if there is none
  // A value that so many percent of all do not exceed: the largest of its class. 0 if there is
  // none.
  std::uint64_t percentile(double percent) const noexcept {
    const double wanted = std::ceil(percent / 100 * static_cast<double>(count()));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      sum += counts_[i];
      if (sum > 0 && static_cast<double>(sum) >= wanted) return std::min(largest_of(i), max_);
    }
    return max_;
  }

  // All that it consists of: who adds up the counts of several, and takes the largest maximum, has
  // the histogram of all of their values.
  std::span<const std::uint64_t> counts() const noexcept { return counts_; }
  Histogram() : counts_(index_of(kLargest) + 1) {}
  Histogram(std::vector<std::uint64_t> counts, std::uint64_t max)
      : counts_(std::move(counts)), max_(max) {}

 private:
  static constexpr int kBits = 7;
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << 42) - 1;

  // Values of the same length in bits share their upper 8 bits, of which the first is 1.
  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    const int dropped = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
    return (static_cast<std::size_t>(dropped) << kBits) + (value >> dropped);
  }
  static constexpr std::uint64_t largest_of(std::size_t index) noexcept {
    constexpr std::size_t kSame = std::size_t{1} << kBits;
    if (index < 2 * kSame) return index;
    const std::size_t dropped = index / kSame - 1;
    return ((index % kSame + kSame + 1) << dropped) - 1;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t max_ = 0;
};

}  // namespace key_value
