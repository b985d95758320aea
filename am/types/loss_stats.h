#pragma once

#include <cstdint>

namespace am {

// Datagrams of a process, since its start, over a link that repairs losses itself. All zeros:
// nothing is lost that this process could know of, as with TCP.
struct LossStats {
  std::uint64_t sent = 0;  // with a payload
  std::uint64_t repeated =
      0;                    // ... of which again: they or their acknowledgements were lost or late
  std::uint64_t twice = 0;  // received that had come before, and were dropped
  std::uint64_t damaged = 0;  // received that were damaged or of a stranger, and were dropped

  bool operator==(const LossStats&) const = default;
};

}  // namespace am
