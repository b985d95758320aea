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

// A sequence lock (seqlock): one writer changes several words, and any readers, also in other
// processes, see them as they were at one moment. An odd version says that the writer is at work. A
// reader never makes the writer wait; it reads again instead.
//
// A plain word, so that it can be copied with what it guards into any shared bytes; all zero is
// valid. It is no memory of its own: what it guards lies beside it, and both sides access that with
// relaxed atomics.
class SequenceLock {
 public:
  // `change()` stores what is to change. One writer at a time; costs two stores more.
  template <class Change>
  void write(Change&& change) noexcept {
    std::atomic_ref version(version_);
    const std::uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    // pairs with: the fence in try_read(): who sees a new word also sees the odd version
    std::atomic_thread_fence(std::memory_order_release);
    change();
    // pairs with: the first load in try_read(): who sees this version sees all of the change
    version.store(before + 2, std::memory_order_release);
  }

  // `look()` loads what is guarded. False: a change went on meanwhile, and what was seen may be of
  // several moments; try again.
  template <class Look>
  bool try_read(Look&& look) const noexcept {
    // atomic_ref<const T> is of a later C++.
    std::atomic_ref version(const_cast<std::uint64_t&>(version_));
    // pairs with: the last store in write()
    const std::uint64_t before = version.load(std::memory_order_acquire);
    look();
    // pairs with: the fence in write()
    std::atomic_thread_fence(std::memory_order_acquire);
    return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
  }

 private:
  std::uint64_t version_ = 0;
};

}  // namespace shmem
