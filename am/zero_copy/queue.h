#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace am::zero_copy {

// First in, first out, in memory that stays: these queues are filled and emptied all the time and
// are seldom long.
template <class T>
class Queue {
 public:
  bool empty() const noexcept { return first_ == items_.size(); }
  std::size_t size() const noexcept { return items_.size() - first_; }
  void push(T item) { items_.push_back(std::move(item)); }
  T pop() {
    T item = std::move(items_[first_]);
    if (++first_ == items_.size()) {
      items_.clear();
      first_ = 0;
    } else if (first_ == kMost) {
      items_.erase(items_.begin(), items_.begin() + std::ptrdiff_t{kMost});
      first_ = 0;
    }
    return item;
  }

 private:
  static constexpr std::size_t kMost = 4096;  // items that have gone, before those behind move up

  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace am::zero_copy
