#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "am/link/datagram/window/wire.h"

namespace am::link::window {

// Memory for one datagram, and what is known of the datagram that is in it.
struct Slot {
  std::span<std::byte> memory;  // header first
  void* descriptor = nullptr;   // of the memory; the network's
  std::uint32_t bytes = 0;      // of the datagram, so far
  std::int64_t sent_ns = 0;     // when it was sent last; 0: never
  std::uint64_t number = 0;
  std::uint32_t slab = 0;   // of its pool, the pool's
  bool repeated = false;    // it was sent more than once
  bool acked = false;       // it has arrived
  bool lost = false;        // it has not, and must be sent again
  bool in_network = false;  // the network still reads the memory: nothing there may change

  std::span<const std::byte> payload() const noexcept {
    return memory.first(bytes).subspan(sizeof(DatagramHeader));
  }
  std::size_t room() const noexcept { return memory.size() - bytes; }
};

// The slots of a process, for datagrams that are sent or for those that have come early. Grows by
// slabs up to its limit, and keeps them until trim().
//
// Where datagrams may be long, there are small slots beside those of the full size: most datagrams
// have a few packets, and need no 64 KiB each.
//
// Thread rule: the link's.
class SlotPool {
 public:
  static constexpr std::size_t kSlab = 16;      // slots
  static constexpr std::size_t kSmall = 2'048;  // bytes
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // Where memory comes from.
  struct Slab {
    std::span<std::byte> memory;
    void* descriptor;
    std::shared_ptr<void> owner =
        nullptr;  // let go when the pool does not need the memory any more
  };
  using Source = std::function<Slab(std::size_t bytes)>;

  // For datagrams of at most `datagram_bytes`, a multiple of 8. `limit`: of bytes in all slots.
  // `headroom`: bytes before each datagram, in the same memory, that are the network's; a multiple
  // of 8.
  SlotPool(Source source, std::size_t datagram_bytes, std::size_t limit = kNoLimit,
           std::size_t headroom = 0)
      : source_(std::move(source)),
        datagram_bytes_(datagram_bytes),
        limit_(limit),
        headroom_(headroom),
        rows_{Row{datagram_bytes}, Row{kSmall}} {}

  // Sees to it that the next `count` calls of take(bytes) allocate nothing and do not throw. Throws
  // what the source throws; only where there is no limit.
  void reserve(std::size_t count, std::size_t bytes) {
    Row& row = row_of(bytes);
    while (row.free.size() < count) grow(row);
  }
  // An empty one for so many bytes, or more; nullptr: the limit is reached. Allocates only when it
  // grows. Throws what the source throws.
  Slot* take(std::size_t bytes) {
    Row& row = row_of(bytes);
    if (row.free.empty() && !grow(row)) return nullptr;
    Slot* const slot = row.free.back();
    row.free.pop_back();
    *slot = {.memory = slot->memory,
             .descriptor = slot->descriptor,
             .bytes = static_cast<std::uint32_t>(sizeof(DatagramHeader)),
             .slab = slot->slab};
    row.most_in_use = std::max(row.most_in_use, row.in_use());
    return slot;
  }
  void give_back(Slot& slot) noexcept { row_of(slot.memory.size()).free.push_back(&slot); }

  std::size_t datagram_bytes() const noexcept { return datagram_bytes_; }
  // Frees slabs without a slot in use, the newest first, as long as there are more bytes than
  // `least` and than have been in use at a time since the last call. So a flood that comes again
  // finds its memory, and one that was the only one does not keep it. Cost: one pass over the
  // slots.
  void trim(std::size_t least) noexcept {
    for (Row& row : rows_) row.trim(least / row.bytes);
  }

  std::size_t bytes() const noexcept {
    return rows_[0].size() * rows_[0].bytes + rows_[1].size() * rows_[1].bytes;
  }
  std::size_t in_use() const noexcept { return rows_[0].in_use() + rows_[1].in_use(); }

 private:
  struct Held {
    std::unique_ptr<Slot[]> slots;
    std::shared_ptr<void> owner;
    std::size_t free = 0;  // slots, when trim() counts
    bool unused = false;

    std::span<Slot> all() const noexcept { return {slots.get(), kSlab}; }
  };
  // Slots of one size.
  struct Row {
    explicit Row(std::size_t bytes) noexcept : bytes(bytes) {}

    std::size_t size() const noexcept { return slabs.size() * kSlab; }
    std::size_t in_use() const noexcept { return size() - free.size(); }
    void trim(std::size_t least) noexcept {
      const std::size_t wanted = std::max(least, std::exchange(most_in_use, in_use()));
      if (size() <= wanted) return;
      mark_unused((size() - wanted) / kSlab);
      std::erase_if(free, [this](const Slot* slot) { return slabs[slot->slab].unused; });
      std::erase_if(slabs, [](const Held& slab) { return slab.unused; });
      for (std::uint32_t i = 0; i < slabs.size(); ++i) {
        for (Slot& slot : slabs[i].all()) slot.slab = i;
      }
    }
    // At most so many of those without a slot in use.
    void mark_unused(std::size_t most) noexcept {
      for (Held& slab : slabs) slab.free = 0;
      for (const Slot* const slot : free) ++slabs[slot->slab].free;
      for (std::size_t i = slabs.size(); i-- != 0;) {
        slabs[i].unused = most != 0 && slabs[i].free == kSlab;
        if (slabs[i].unused) --most;
      }
    }

    std::size_t bytes;  // of a slot
    std::vector<Held> slabs;
    std::vector<Slot*> free;
    std::size_t most_in_use = 0;  // at a time, since trim()
  };

  Row& row_of(std::size_t bytes) noexcept {
    return bytes <= kSmall && datagram_bytes_ >= 2 * kSmall ? rows_[1] : rows_[0];
  }
  bool grow(Row& row) {
    if (bytes() + kSlab * row.bytes > limit_) return false;
    const std::size_t each = headroom_ + row.bytes;
    const Slab slab = source_(kSlab * each);
    row.free.reserve(row.size() + kSlab);
    row.slabs.push_back({.slots = std::make_unique<Slot[]>(kSlab), .owner = slab.owner});
    for (std::size_t i = 0; i < kSlab; ++i) {
      Slot& slot = row.slabs.back().slots[i];
      slot.memory = slab.memory.subspan(i * each + headroom_, row.bytes);
      slot.descriptor = slab.descriptor;
      slot.slab = static_cast<std::uint32_t>(row.slabs.size() - 1);
      row.free.push_back(&slot);
    }
    return true;
  }

  const Source source_;
  const std::size_t datagram_bytes_;
  const std::size_t limit_;
  const std::size_t headroom_;
  std::array<Row, 2> rows_;  // of the full size, and small
};

}  // namespace am::link::window
