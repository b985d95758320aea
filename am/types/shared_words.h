#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace am {

// Copies; objects of 1, 2, 4 and 8 aligned bytes in one piece, so that a neighbour that reads at
// the same time sees the old value or the new. The two ranges may overlap.
inline void copy_whole(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  const auto copy_as = [&]<class Word>(Word) {
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0 ||
        reinterpret_cast<std::uintptr_t>(from) % sizeof(Word) != 0) {
      return false;
    }
    const Word word = std::atomic_ref(*reinterpret_cast<Word*>(const_cast<std::byte*>(from)))
                          .load(std::memory_order_relaxed);
    std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_relaxed);
    return true;
  };
  switch (bytes) {
    case 0: return;
    case 1: *to = *from; return;
    case 2:
      if (copy_as(std::uint16_t())) return;
      break;
    case 4:
      if (copy_as(std::uint32_t())) return;
      break;
    case 8:
      if (copy_as(std::uint64_t())) return;
      break;
    default: break;
  }
  std::memmove(to, from, bytes);
}

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
