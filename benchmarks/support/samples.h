#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace bench {

// What many short repetitions of one measurement gave. The minimum is what the machine can do:
// other work and the clock can only add to a time. The median shows how far off a usual one is.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  bool empty() const noexcept { return values_.empty(); }

  // Infinity if there is none.
  double minimum() const noexcept {
    const auto least = std::min_element(values_.begin(), values_.end());
    return least == values_.end() ? std::numeric_limits<double>::infinity() : *least;
  }
  double median() const {
    if (values_.empty()) return std::numeric_limits<double>::infinity();
    std::vector<double> sorted = values_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
  // The share of values beyond `limit`, 0 to 1.
  double share_beyond(double limit) const noexcept {
    if (values_.empty()) return 0;
    const auto beyond = std::count_if(values_.begin(), values_.end(),
                                      [limit](double value) { return value > limit; });
    return static_cast<double>(beyond) / static_cast<double>(values_.size());
  }

 private:
  std::vector<double> values_;
};

}  // namespace bench
