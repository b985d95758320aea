#pragma once

#include <atomic>

#include "am/types/source_location.h"

// What calls need that are counted by place: which place that is, and whether anybody counts.

namespace am {

// Which call of the program, and where it stands, as far as that is known. All text is static.
struct CallPlace {
  const char* call = "";         // as the program knows it, such as "barrier"
  SourceLocation where = {};     // line 0: not known
  const void* caller = nullptr;  // instead: where in the program it returns to
};

// What a sender needs whose receiver is behind.
inline constexpr const char* kNeedsCredit = "a credit";

class CallSites;

namespace detail {
inline constinit std::atomic<CallSites*> active_call_sites = nullptr;
}

// The CallSites that count; nullptr: nobody wants to know. A load.
inline CallSites* active_call_sites() noexcept {
  return detail::active_call_sites.load(std::memory_order_relaxed);
}

}  // namespace am
