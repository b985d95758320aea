#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "am/types/heap_side.h"
#include "am/types/types.h"

namespace splitc {

using am::HeapSide;

// Which local blocks a process has, in checked builds, where other processes can read it: behind
// its segment. An entry for each 64 bytes of the segment, of which a block sets all that lie before
// the first multiple of 1,024 in it, then every 1,024th up to the first multiple of 2^20, then
// every 2^20th. So a block of any size is found by at most three entries, and to set those of a
// large one takes no longer than to write a page.
//
// Written by its owner alone. A reader sees the right entries for a block that it has learned of by
// synchronization; its view of others may be stale.
class Ledger {
 public:
  // Bytes behind a segment of that size, a multiple of 4096; 0: there is no ledger, in a release
  // build or of a segment beyond 64 GiB.
  static constexpr std::uint64_t bytes(std::uint64_t segment_bytes) noexcept {
    constexpr std::uint64_t kPage = 4096;
    if (!am::kChecked || segment_bytes > kMostSegment) return 0;
    return (segment_bytes / HeapSide::kAlign * sizeof(std::uint64_t) + kPage - 1) / kPage * kPage;
  }

  // `entries`: bytes(), zeros at the start; nullptr: none, and what follows does nothing.
  explicit Ledger(std::byte* entries) noexcept : entries_(entries) {}

  void note(HeapSide::Block block) noexcept { set(block, packed(block)); }
  void forget(HeapSide::Block block) noexcept { set(block, 0); }

  // The block that occupies `offset`. read(i) is what stands in entry i: where these are mapped, or
  // by an access to another node.
  template <class Read>
  static std::optional<HeapSide::Block> find(std::uint64_t offset, Read read) {
    for (const std::uint64_t step : kSteps) {
      const std::uint64_t entry = read(offset / HeapSide::kAlign / step * step);
      if (entry == 0) continue;
      const HeapSide::Block block{(entry >> kSizeBits) * HeapSide::kAlign, entry & kMostBytes};
      if (offset - block.at >= HeapSide::occupied(block.bytes)) return std::nullopt;
      return block;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kSizeBits = 34;
  static constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << kSizeBits) - 1;
  static constexpr std::uint64_t kMostSegment = std::uint64_t{64} << 30;  // 2^30 entries
  static constexpr std::array<std::uint64_t, 3> kSteps = {1, 1024, 1024 * 1024};

  // Never 0, as no block begins at the beginning of a segment. The size of a block beyond 16 GiB is
  // cut to the largest that fits.
  static constexpr std::uint64_t packed(HeapSide::Block block) noexcept {
    return block.at / HeapSide::kAlign << kSizeBits | std::min(block.bytes, kMostBytes);
  }

  void set(HeapSide::Block block, std::uint64_t entry) noexcept {
    if (entries_ == nullptr) return;
    std::uint64_t at = block.at / HeapSide::kAlign;
    const std::uint64_t end = at + HeapSide::occupied(block.bytes) / HeapSide::kAlign;
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      const std::uint64_t next = i + 1 < kSteps.size() ? kSteps[i + 1] : 0;
      const std::uint64_t stop = next == 0 ? end : std::min(end, (at + next - 1) / next * next);
      for (; at < stop; at += kSteps[i]) {
        std::atomic_ref(reinterpret_cast<std::uint64_t*>(entries_)[at])
            .store(entry, std::memory_order_relaxed);
      }
    }
  }

  std::byte* entries_;
};

}  // namespace splitc
