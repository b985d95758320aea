#pragma once

#include <atomic>
#include <cstdint>

// The part of a process's segment that one endpoint opens to Long messages, as its correspondents
// read it through shared memory.

namespace am {

struct Extent {
  std::uint64_t offset = 0;  // from the start of the process's segment
  std::uint64_t bytes = 0;

  // Whether [at, at + count) lies inside; at is relative to the extent.
  bool holds(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes && count <= bytes - at;
  }
};

// One writer, any readers; plain words so that it can lie in any shared bytes. An odd version says
// that the writer is at work; a reader tries again until it has seen one version throughout.
class PublishedExtent {
 public:
  void publish(Extent extent) noexcept {
    std::atomic_ref version(version_);
    const std::uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    // pairs with: read(): who sees a new word also sees the odd version
    std::atomic_thread_fence(std::memory_order_release);
    std::atomic_ref(offset_).store(extent.offset, std::memory_order_relaxed);
    std::atomic_ref(bytes_).store(extent.bytes, std::memory_order_relaxed);
    // pairs with: read()
    version.store(before + 2, std::memory_order_release);
  }

  Extent read() const noexcept {
    auto& self = const_cast<PublishedExtent&>(*this);  // atomic_ref<const T> is of a later C++
    for (;;) {
      // pairs with: publish()
      const std::uint64_t before = std::atomic_ref(self.version_).load(std::memory_order_acquire);
      const Extent extent{std::atomic_ref(self.offset_).load(std::memory_order_relaxed),
                          std::atomic_ref(self.bytes_).load(std::memory_order_relaxed)};
      // pairs with: publish()
      std::atomic_thread_fence(std::memory_order_acquire);
      const std::uint64_t after = std::atomic_ref(self.version_).load(std::memory_order_relaxed);
      if (before == after && before % 2 == 0) return extent;
    }
  }

 private:
  std::uint64_t version_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace am
