#pragma once

#include <atomic>

namespace am {

class Trace;

namespace detail {
inline constinit std::atomic<Trace*> active_trace = nullptr;
}

// The trace that this process records; nullptr: nobody wants to see anything. A load.
inline Trace* active_trace() noexcept {
  return detail::active_trace.load(std::memory_order_relaxed);
}

}  // namespace am
