// One process asks that all processes of the job end, with an exit code, and that nothing is
// printed about it: the exit of a program, not a failure (am/c/spmd.h).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace am {

// Sleeps while `word` is `seen`; may return early. This and the next: of words that processes
// share, so not PRIVATE; any thread, also in signal handlers.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// All zeros is valid: no end has been requested. It may lie in memory that processes share. Any
// thread; ask() also in signal handlers.
class ExitRequest {
 public:
  // Requests an end with `code`, of which the low byte counts, and wakes waiters. The first request
  // decides.
  void ask(int code) noexcept {
    std::uint32_t expected = kNobody;
    const std::uint32_t asked = kAsked | (static_cast<std::uint32_t>(code) & 0xff);
    word_.compare_exchange_strong(expected, asked, std::memory_order_relaxed);
    futex_wake_all(word_);
  }
  // Sleeps until an end has been requested.
  void wait() const noexcept {
    while (!asked()) futex_wait(word_, kNobody);
  }
  // Whether an end has been requested.
  bool asked() const noexcept { return load() != kNobody; }
  // With which code. Once asked().
  int code() const noexcept { return static_cast<int>(load() & 0xff); }

  // A process is ready to end by itself. Once for each.
  void come() noexcept { come_.fetch_add(1, std::memory_order_relaxed); }
  // How many are.
  std::uint32_t count_come() const noexcept { return come_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kNobody = 0;
  static constexpr std::uint32_t kAsked = 0x100;  // and the code below

  // No other memory is published by it.
  std::uint32_t load() const noexcept { return word_.load(std::memory_order_relaxed); }

  std::atomic<std::uint32_t> word_;  // the futex
  std::atomic<std::uint32_t> come_;  // no other memory is published by it
};

}  // namespace am
