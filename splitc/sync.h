#pragma once

#include <atomic>

namespace splitc {

// One get or put that has been started. On a node it is done when it is started; where messages or
// RMA carry it, it is not. May be dropped: sync() waits for everything.
class handle {
 public:
  constexpr handle() noexcept = default;
};

// Waits until every get and put that this process has started is complete: the values of gets are
// there, and every process sees the puts. A full fence: a read after it is not older than it.
inline void sync() noexcept {
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Waits for one operation.
inline void sync(handle) noexcept { sync(); }

// Whether everything (or one operation) is complete now; if so, this was a sync().
[[nodiscard]] inline bool try_sync() noexcept {
  sync();
  return true;
}
[[nodiscard]] inline bool try_sync(handle) noexcept { return try_sync(); }
[[nodiscard]] inline bool is_sync() noexcept { return try_sync(); }

}  // namespace splitc
