#pragma once

#include <cstdint>

namespace am {

// How stores to other nodes have used put channels that nobody made.
struct LearningStats {
  std::uint64_t channels = 0;  // that this process has learned as a sender
  std::uint64_t puts = 0;      // stores that went by them
};

}  // namespace am
