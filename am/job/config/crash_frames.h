// Where a process has crashed, for its launcher, which has the time, and may start the programs,
// that it takes to name lines of the source.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "am/types/types.h"

namespace am {

// In memory that processes share; all zeros is valid. Safe in a signal handler.
class CrashFrames {
 public:
  // False: another process was first, and there is room for one.
  bool try_claim(Rank rank) noexcept {
    std::uint32_t nobody = 0;
    return claimed_.compare_exchange_strong(nobody, rank + 1, std::memory_order_relaxed);
  }
  // Once, by the process that has claimed it: a line for each function, the inner ones first, of
  // the address in the file and the file, "0x2b3f /home/me/heat"; or "- " and what is known. And
  // last "= " and what a person may do by hand.
  void publish(std::string_view lines) noexcept {
    const std::size_t bytes = lines.size() < sizeof text_ ? lines.size() : sizeof text_ - 1;
    std::memcpy(text_, lines.data(), bytes);
    text_[bytes] = '\0';
    // pairs with: lines_of
    ready_.store(1, std::memory_order_release);
  }
  // By the launcher: "" unless that process was the first to crash.
  std::string_view lines_of(Rank rank) const noexcept {
    // pairs with: publish
    if (ready_.load(std::memory_order_acquire) == 0) return {};
    return claimed_.load(std::memory_order_relaxed) == rank + 1 ? text_ : std::string_view();
  }

 private:
  std::atomic<std::uint32_t> claimed_;  // 1 + rank
  std::atomic<std::uint32_t> ready_;
  char text_[8184];
};
static_assert(sizeof(CrashFrames) == 8192);

}  // namespace am
