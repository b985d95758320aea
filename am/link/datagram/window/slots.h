#pragma once

#include <algorithm>
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
// Thread rule: the link's.
class SlotPool {
 public:
  static constexpr std::size_t kSlab = 16;  // slots
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // Where memory comes from.
  struct Slab {
    std::span<std::byte> memory;
    void* descriptor;
    std::shared_ptr<void> owner =
        nullptr;  // let go when the pool does not need the memory any more
  };
  using Source = std::function<Slab(std::size_t bytes)>;

  // For datagrams of at most `datagram_bytes`, a multiple of 8. `limit`: of slots. `headroom`:
  // bytes before each datagram, in the same memory, that are the network's; a multiple of 8.
  SlotPool(Source source, std::size_t datagram_bytes, std::size_t limit = kNoLimit,
           std::size_t headroom = 0)
      : source_(std::move(source)),
        datagram_bytes_(datagram_bytes),
        limit_(limit),
        headroom_(headroom) {}

  // Sees to it that the next `count` calls of take() allocate nothing and do not throw. Throws what
  // the source throws; only where there is no limit.
  void reserve(std::size_t count) {
    while (free_.size() < count) grow();
  }
  // An empty one; nullptr: the limit is reached. Allocates only when it grows. Throws what the
  // source throws.
  Slot* take() {
    if (free_.empty() && !grow()) return nullptr;
    Slot* const slot = free_.back();
    free_.pop_back();
    *slot = {.memory = slot->memory,
             .descriptor = slot->descriptor,
             .bytes = static_cast<std::uint32_t>(sizeof(DatagramHeader)),
             .slab = slot->slab};
    most_in_use_ = std::max(most_in_use_, in_use());
    return slot;
  }
  void give_back(Slot& slot) noexcept { free_.push_back(&slot); }

  std::size_t datagram_bytes() const noexcept { return datagram_bytes_; }
  // Lets go of slabs without a slot in use, the newest first, as long as there are more slots than
  // `least` and than have been in use at a time since the last call. So a flood that comes again
  // finds its memory, and one that was the only one does not keep it. Cost: a look at each slot.
  void trim(std::size_t least) noexcept {
    const std::size_t wanted = std::max(least, std::exchange(most_in_use_, in_use()));
    if (size() <= wanted) return;
    mark_unused((size() - wanted) / kSlab);
    std::erase_if(free_, [this](const Slot* slot) { return slabs_[slot->slab].unused; });
    std::erase_if(slabs_, [](const Held& slab) { return slab.unused; });
    for (std::uint32_t i = 0; i < slabs_.size(); ++i) {
      for (Slot& slot : slabs_[i].all()) slot.slab = i;
    }
  }

  std::size_t size() const noexcept { return slabs_.size() * kSlab; }
  std::size_t in_use() const noexcept { return size() - free_.size(); }

 private:
  bool grow() {
    if (size() + kSlab > limit_) return false;
    const std::size_t each = headroom_ + datagram_bytes_;
    const Slab slab = source_(kSlab * each);
    free_.reserve(size() + kSlab);
    slabs_.push_back({.slots = std::make_unique<Slot[]>(kSlab), .owner = slab.owner});
    for (std::size_t i = 0; i < kSlab; ++i) {
      Slot& slot = slabs_.back().slots[i];
      slot.memory = slab.memory.subspan(i * each + headroom_, datagram_bytes_);
      slot.descriptor = slab.descriptor;
      slot.slab = static_cast<std::uint32_t>(slabs_.size() - 1);
      free_.push_back(&slot);
    }
    return true;
  }
  // At most so many of those without a slot in use.
  void mark_unused(std::size_t most) noexcept {
    for (Held& slab : slabs_) slab.free = 0;
    for (const Slot* const slot : free_) ++slabs_[slot->slab].free;
    for (std::size_t i = slabs_.size(); i-- != 0;) {
      slabs_[i].unused = most != 0 && slabs_[i].free == kSlab;
      if (slabs_[i].unused) --most;
    }
  }

  struct Held {
    std::unique_ptr<Slot[]> slots;
    std::shared_ptr<void> owner;
    std::size_t free = 0;  // slots, when trim() looks
    bool unused = false;

    std::span<Slot> all() const noexcept { return {slots.get(), kSlab}; }
  };

  const Source source_;
  const std::size_t datagram_bytes_;
  const std::size_t limit_;
  const std::size_t headroom_;
  std::vector<Held> slabs_;
  std::vector<Slot*> free_;
  std::size_t most_in_use_ = 0;  // at a time, since trim()
};

}  // namespace am::link::window
