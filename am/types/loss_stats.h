#pragma once

#include <cstdint>

namespace am {

// Datagrams of a process, since its start, over a link that repairs losses itself. All zeros:
// nothing is lost that this process could know of, as with TCP.
struct LossStats {
  std::uint64_t sent = 0;      // with messages: acknowledgements are not counted
  std::uint64_t repeated = 0;  // ... of which again: they, or what acknowledged them, came late
  std::uint64_t twice = 0;     // received that had come before, and were dropped
  std::uint64_t damaged = 0;   // received of any kind, damaged or of a stranger, and dropped

  bool operator==(const LossStats&) const = default;
  LossStats operator-(const LossStats& earlier) const noexcept {
    return {sent - earlier.sent, repeated - earlier.repeated, twice - earlier.twice,
            damaged - earlier.damaged};
  }
};

}  // namespace am
