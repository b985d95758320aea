#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "shmem/flag.h"

// A bounded ring of cache-line slots from one producer to one consumer in which every request
// carries the room for its own reply.
//
// Invariants:
//  * Slot: the first half is written by the producer, the second by the consumer, each finished by
//    a release store of its head word: sequence number (48 bits) and a mark (16 bits) that the
//    user of the ring chooses. Sequence numbers start at 1 and never repeat (at one message every
//    10 ns, 48 bits last 32 days of uninterrupted traffic on one ring), so a stale slot is never
//    taken for a new one and zeroed memory is an empty ring.
//  * A request without one-way mark is answered in its own slot: the reply's room is reserved by
//    construction, and its arrival is the return of the credit.
//  * One-way requests are not answered; the consumer publishes how far it has read each time a
//    quarter of the ring has passed.
//  * The consumer finishes requests in order, so a reply also frees every older one-way slot.
//  * When nothing is in flight the producer writes to the slot it used last: that line moves back
//    and forth between two caches and no other does (measured: 50-57 ns there and back against
//    98-104 with a rotating slot). Hence the next request is in the last slot or in the one after,
//    and its sequence number says so.

namespace shmem {

// What a head word holds beside the sequence number.
using Mark = std::uint16_t;

inline constexpr std::uint64_t make_head(std::uint64_t sequence, Mark mark) noexcept {
  return (sequence << 16) | mark;
}
inline constexpr std::uint64_t sequence_of(std::uint64_t head) noexcept { return head >> 16; }
inline constexpr Mark mark_of(std::uint64_t head) noexcept { return static_cast<Mark>(head); }

struct Half {
  static constexpr std::size_t kBytes = 24;
  alignas(8) std::byte bytes[kBytes];
  std::atomic<std::uint64_t> head;
};

struct alignas(kCacheLine) Slot {
  Half request;
  Half reply;
};
static_assert(sizeof(Slot) == kCacheLine && sizeof(Half) == 32);

// The producer's private view of a ring of `kSlots` (a power of two, at most 64).
template <std::uint32_t kSlots>
class Producer {
 public:
  static_assert(std::has_single_bit(kSlots) && kSlots <= 64);

  bool full() const noexcept { return in_flight_ == kSlots; }
  std::uint32_t in_flight() const noexcept { return in_flight_; }
  std::uint32_t awaited() const noexcept { return awaited_; }  // requests whose reply is to come

  // The slot for the next request; only if not full().
  std::uint32_t next_slot() const noexcept { return next_slot_; }

  // Hands `slot` (which is next_slot(), filled) to the consumer.
  void commit(Slot& slot, Mark mark, bool one_way) noexcept {
    last_ = next_slot_;
    next_slot_ = (last_ + 1) % kSlots;
    if (!one_way) {
      if (awaited_++ == 0) {
        first_awaited_ = last_;
        awaited_sequence_ = next_;
      }
      wants_reply_ |= std::uint64_t{1} << last_;
    }
    ++in_flight_;
    // pairs with: Consumer::peek()
    slot.request.head.store(make_head(next_++, mark), std::memory_order_release);
  }

  // The slot of the oldest reply, if it has come; only if awaited() > 0.
  // pairs with: Consumer::answer()
  bool reply_ready(const Slot* slots, std::uint32_t& slot) const noexcept {
    slot = first_awaited_;
    const std::uint64_t head = slots[slot].reply.head.load(std::memory_order_acquire);
    return sequence_of(head) == awaited_sequence_;
  }

  // Frees the slot that reply_ready() gave, and every older one-way slot with it.
  void release_reply() noexcept {
    wants_reply_ &= ~(std::uint64_t{1} << first_awaited_);
    in_flight_ = static_cast<std::uint32_t>(next_ - 1 - awaited_sequence_);
    if (in_flight_ == 0) next_slot_ = last_;
    if (--awaited_ == 0) return;
    std::uint32_t step = 1;
    const std::uint32_t next = (first_awaited_ + 1) % kSlots;
    if ((wants_reply_ >> next & 1) == 0) {  // one-way requests in between
      step += static_cast<std::uint32_t>(std::countr_zero(turn(wants_reply_, next)));
    }
    first_awaited_ = (first_awaited_ + step) % kSlots;
    awaited_sequence_ += step;
  }

  // Frees the oldest one-way slots that the consumer has read, up to sequence number `consumed`.
  void release_consumed(std::uint64_t consumed) noexcept {
    while (in_flight_ != 0) {
      const std::uint32_t oldest = (last_ + 1 + kSlots - in_flight_) % kSlots;
      if ((wants_reply_ >> oldest & 1) != 0 || sequence_in(oldest) > consumed) return;
      --in_flight_;
    }
    next_slot_ = last_;
  }

  // The state that outlives this producer when another takes over its ring; nothing in flight.
  std::uint64_t next_sequence() const noexcept { return next_; }
  std::uint32_t last_slot() const noexcept { return last_; }
  void resume(std::uint64_t next_sequence, std::uint32_t last_slot) noexcept {
    next_ = next_sequence;
    last_ = next_slot_ = last_slot;
  }

 private:
  std::uint64_t sequence_in(std::uint32_t slot) const noexcept {
    return next_ - 1 - (last_ + kSlots - slot) % kSlots;
  }
  static std::uint64_t turn(std::uint64_t mask, std::uint32_t by) noexcept {
    if constexpr (kSlots == 64) {
      return std::rotr(mask, static_cast<int>(by));
    } else {
      return ((mask >> by) | (mask << (kSlots - by))) & ((std::uint64_t{1} << kSlots) - 1);
    }
  }

  std::uint64_t next_ = 1;              // sequence number of the next request
  std::uint64_t wants_reply_ = 0;       // bit per slot
  std::uint64_t awaited_sequence_ = 0;  // of the request whose reply comes next
  std::uint32_t last_ = 0;              // slot of the newest request
  std::uint32_t next_slot_ = 0;         // of the next: the same while nothing is in flight
  std::uint32_t in_flight_ = 0;         // slots not yet free again
  std::uint32_t awaited_ = 0;           // of these, how many await a reply
  std::uint32_t first_awaited_ = 0;     // its slot
};

// The consumer's private view of the same ring.
template <std::uint32_t kSlots>
class Consumer {
 public:
  static constexpr std::uint32_t kBatch = kSlots / 4;  // one-way requests per published count

  // The next request, or nullptr. It stays the next one until finish() is called.
  // pairs with: Producer::commit()
  Slot* peek(Slot* slots) noexcept {
    // First where the one before last was found in relation to it: an idle pair of processes uses
    // one slot only, and then a look at another line first would delay every message.
    Slot* const first = &slots[(last_ + step_) % kSlots];
    if (is_next(*first)) return first;
    Slot* const second = &slots[(last_ + 1 - step_) % kSlots];
    return is_next(*second) ? second : nullptr;
  }

  // Answers the request in `slot`, whose reply half is filled, and goes on to the next.
  // pairs with: Producer::reply_ready()
  void answer(const Slot* slots, Slot& slot, Mark mark) noexcept {
    slot.reply.head.store(make_head(expected_, mark), std::memory_order_release);
    advance(slots, slot);
  }

  // Goes on to the next after a one-way request. True: publish consumed() now.
  bool finish_one_way(const Slot* slots, const Slot& slot) noexcept {
    advance(slots, slot);
    if (++unpublished_ < kBatch) return false;
    unpublished_ = 0;
    return true;
  }

  std::uint64_t consumed() const noexcept { return expected_ - 1; }

 private:
  // pairs with: Producer::commit()
  bool is_next(const Slot& slot) const noexcept {
    return sequence_of(slot.request.head.load(std::memory_order_acquire)) == expected_;
  }
  void advance(const Slot* slots, const Slot& slot) noexcept {
    const auto at = static_cast<std::uint32_t>(&slot - slots);
    step_ = at == last_ ? 0 : 1;
    last_ = at;
    ++expected_;
  }

  std::uint64_t expected_ = 1;
  std::uint32_t last_ = 0;         // slot of the newest request read
  std::uint32_t step_ = 0;         // its distance from the one before: 0 or 1
  std::uint32_t unpublished_ = 0;  // one-way requests read since the last published count
};

}  // namespace shmem
