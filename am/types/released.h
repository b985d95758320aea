#pragma once

#include <atomic>

namespace am {

// A flag of one thread that waits until its memory may be reused, set by whichever thread of the
// process sees to that. (The owner of the flag gives a plain bool.)
// pairs with: is_released()
inline void release(bool& flag) noexcept {
  std::atomic_ref(flag).store(true, std::memory_order_release);
}
// What the thread that has set it did before is visible then.
// pairs with: release()
inline bool is_released(const bool& flag) noexcept {
  return std::atomic_ref(const_cast<bool&>(flag)).load(std::memory_order_acquire);
}

}  // namespace am
