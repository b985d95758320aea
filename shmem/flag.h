#pragma once

#include <atomic>
#include <cstdint>

namespace shmem {

inline constexpr std::size_t kCacheLine = 64;

// A 64-bit number in shared memory with one writer and any number of readers, alone on its cache
// line so that no neighbour's write disturbs those who spin on it. All zero is its first state.
// What the writer stored before publish(v) is visible to whoever has seen v.
struct alignas(kCacheLine) Flag {
  // pairs with: value()
  void publish(std::uint64_t v) noexcept { word.store(v, std::memory_order_release); }
  // pairs with: publish()
  std::uint64_t value() const noexcept { return word.load(std::memory_order_acquire); }

  std::atomic<std::uint64_t> word;
};
static_assert(sizeof(Flag) == kCacheLine);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A running total with one writer: the number of bytes (or messages) ever added. It only grows, so
// a reader that remembers what it has consumed needs no reset that could race with the writer.
struct alignas(kCacheLine) Counter {
  // By the writer alone; a plain load and store, since nobody else writes.
  // pairs with: total()
  void add(std::uint64_t n) noexcept {
    word.store(word.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  // pairs with: add()
  std::uint64_t total() const noexcept { return word.load(std::memory_order_acquire); }

  std::atomic<std::uint64_t> word;
};
static_assert(sizeof(Counter) == kCacheLine);

// A running total with many writers.
struct alignas(kCacheLine) SharedCounter {
  // Returns the total before the addition.
  // pairs with: total()
  std::uint64_t add(std::uint64_t n) noexcept {
    return word.fetch_add(n, std::memory_order_acq_rel);
  }
  // pairs with: add()
  std::uint64_t total() const noexcept { return word.load(std::memory_order_acquire); }

  std::atomic<std::uint64_t> word;
};

}  // namespace shmem
