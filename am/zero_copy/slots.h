#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "am/link/link.h"
#include "am/types/object_pool.h"
#include "am/zero_copy/near.h"
#include "am/zero_copy/types.h"
#include "am/zero_copy/wire.h"

namespace am::zero_copy {

// Takes the first one off a queue.
template <class T>
T pop(std::queue<T>& queue) {
  T first = std::move(queue.front());
  queue.pop();
  return first;
}

using SharedCallback = std::shared_ptr<const ZeroCopyCallback>;

// nullptr: of an empty one.
inline SharedCallback share(ZeroCopyCallback callback) {
  if (!callback) return nullptr;
  return std::make_shared<const ZeroCopyCallback>(std::move(callback));
}

// This process's end of one transfer, as it was when that began.
struct End {
  std::span<std::byte> memory() const noexcept {
    return {reinterpret_cast<std::byte*>(buffer.address), buffer.bytes};
  }

  ZeroCopyInfo buffer;      // slot: kNone if it is no ZeroCopyBuffer
  SharedCallback callback;  // of what is no ZeroCopyBuffer; nullptr: none
};

// One buffer of this process, or the payload of a request that it has sent.
struct Slot {
  // kReg and kPrereg have to be prepared for transfers.
  bool takes_transfers() const noexcept {
    return info.mode == ZeroCopyMode::kUnreg || (info.mode != ZeroCopyMode::kNoreg && prepared);
  }
  // Whether its memory is registered, by itself or with the pool.
  bool registered() const noexcept {
    return registration != nullptr || info.mode == ZeroCopyMode::kPrereg;
  }
  std::span<std::byte> memory() const noexcept {
    return {reinterpret_cast<std::byte*>(info.address), info.bytes};
  }

  bool in_use = false;
  bool prepared = false;  // as the user sees it, with or without a network
  ZeroCopyInfo info;
  SharedCallback callback;
  std::shared_ptr<link::Registration> registration;
  std::vector<Rank> granted;    // processes that have its key
  std::uint32_t under_way = 0;  // transfers known here
  // For a request: the receivers that have not answered yet, and the fewest bytes that one has
  // taken.
  bool of_request = false;
  std::uint32_t receivers = 0;
  std::size_t least = 0;
};

// The buffers of this process, by number, and the ends that it has of transfers. The number of a
// buffer that has gone is used again, with another generation. Neighbours see on the board which
// there are.
//
// Each end is finished once, and then its callback runs, in a poll. The payload of a request has as
// many ends as the request has receivers, and is finished with the last.
//
// Thread rule: the bundle's.
class Slots {
 public:
  Slots(Rank rank, Neighbours& neighbours) : rank_(rank), neighbours_(neighbours) {}

  // A new one, with nothing in it. kNone: there are kMaxSlots already.
  std::uint32_t open();
  bool has_room(std::size_t count) const noexcept { return count <= kMaxSlots - slots_.in_use(); }
  void close(std::uint32_t slot) noexcept;  // its memory and callback are forgotten
  // Another generation, with other contents. Not published yet.
  void renew(std::uint32_t slot, std::span<std::byte> memory, ZeroCopyMode mode);
  // Shows neighbours whether transfers may come.
  void publish(std::uint32_t slot) noexcept;

  Slot& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
  // nullptr: that one is not there any more.
  Slot* find(std::uint32_t slot, std::uint32_t generation) noexcept {
    if (slot >= slots_.size()) return nullptr;
    Slot& entry = slots_[slot];
    return entry.in_use && entry.info.generation == generation ? &entry : nullptr;
  }
  Slot* find(const End& end) noexcept { return find(end.buffer.slot, end.buffer.generation); }
  // Whether a buffer lies in `block`.
  bool any_in(std::span<const std::byte> block) const noexcept;

  // An end for a transfer that begins; counts it.
  End begin(Slot& slot) {
    ++slot.under_way;
    return {slot.info, nullptr};
  }
  // Makes `slot` the payload of a request to so many receivers; 0 is finished as 1.
  void open_request(Slot& slot, std::size_t receivers) noexcept;
  // `bytes` have been moved between `end` and `peer`, and this process's part in that is over.
  void finish(const End& end, std::size_t bytes, Rank peer, bool source);
  // The end takes no more part in that transfer, and no callback runs.
  void settle(const End& end) noexcept;
  // Calls those that have finished until now: what a callback finishes has its turn in the next
  // call. Returns how many. What a callback throws passes through; the others stay.
  int run_callbacks();
  bool has_callbacks() const noexcept { return !finished_.empty(); }
  // Whether every end has been finished and all callbacks have run, except those of transfers that
  // are counted elsewhere.
  bool idle() const noexcept { return finished_.empty() && requests_ == 0; }

 private:
  struct Finish {
    ZeroCopyDone done;
    SharedCallback callback;  // of what is no ZeroCopyBuffer
  };

  const Rank rank_;
  Neighbours& neighbours_;
  ObjectPool<Slot> slots_;
  std::queue<Finish> finished_;
  std::uint32_t requests_ = 0;  // whose payloads are not all taken
};

}  // namespace am::zero_copy
