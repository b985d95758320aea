#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "shmem/flag.h"
#include "shmem/slot.h"

// A bounded ring of cache-line slots from one producer to one consumer in which every request
// carries the room for its own reply.
//
// Invariants:
//  * Slot: the first half is written by the producer, the second by the consumer, each completed by
//    a release store of its head word: sequence number (47 bits), one bit that is always set, and a
//    mark (16 bits) that the user of the ring chooses. Requests are numbered by 64-bit counters,
//    from 1; the head holds the low bits.
//  * A head matches no other request than its own. Zeroed memory lacks the bit that is always set,
//    so it is an empty ring. And around every 2^40th request the producer goes once through the
//    whole ring and clears the reply heads, so that no head is ever older than 2^41 requests.
//  * A request without one-way mark is answered in its own slot: the reply's room is reserved by
//    construction, and its arrival is the return of the credit.
//  * One-way requests are not answered; the consumer publishes how far it has read (Progress) each
//    time a quarter of the ring has passed.
//  * A one-way request that the consumer could not use is returned in its own slot: the consumer
//    completes the reply half, then counts the returned request, then publishes, all before it goes
//    on. Request and slot stay until the producer frees them. It frees slots in order, and loads
//    each reply head first while more requests were counted as returned than it has taken. So each
//    returned request is taken exactly once, the room for it is that of the request, and the
//    overhead where nothing is returned is one comparison with a word on a line that is loaded
//    anyway.
//  * The consumer finishes requests in order, so a reply also frees every older one-way slot.
//  * When nothing is in flight the producer writes to the slot it used last: that line moves back
//    and forth between two caches and no other does (measured: 50-57 ns a round trip against
//    98-104 with a rotating slot). Hence the next request is in the last slot or in the one after,
//    and its sequence number says so.

namespace shmem {

// What a consumer publishes of the one-way requests of a ring. All zero is its first state.
struct alignas(kCacheLine) Progress {
  std::atomic<std::uint64_t> consumed;  // the last request read, in batches
  std::atomic<std::uint64_t> returned;  // one-way requests returned so far
};
static_assert(sizeof(Progress) == kCacheLine);

// The producer's private view of a ring of `kSlots` (a power of two, at most 64).
template <std::uint32_t kSlots>
class Producer {
 public:
  static_assert(std::has_single_bit(kSlots) && kSlots <= 64);
  // Requests between two passes through the whole ring.
  static constexpr std::uint64_t kPeriod = std::uint64_t{1} << 40;

  bool full() const noexcept { return in_flight_ == kSlots; }
  std::uint32_t in_flight() const noexcept { return in_flight_; }
  std::uint32_t awaited() const noexcept { return awaited_; }  // requests whose reply is to come
  // The slots of these, a bit each.
  std::uint64_t awaited_slots() const noexcept { return wants_reply_; }

  // The slot for the next request; only if not full().
  std::uint32_t next_slot() const noexcept { return next_slot_; }

  // Passes `slot` (which is next_slot(), filled) to the consumer.
  void commit(Slot& slot, Mark mark, bool one_way) noexcept {
    last_ = next_slot_;
    next_slot_ = (last_ + 1) % kSlots;
    if (rotating()) [[unlikely]]  // the consumer sees this with the request
      slot.reply.head.store(0, std::memory_order_relaxed);
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
    return is_head_of(slots[slot].reply.head.load(std::memory_order_acquire), awaited_sequence_);
  }

  // Frees the slot that reply_ready() gave, and every older one-way slot with it.
  void release_reply() noexcept {
    wants_reply_ &= ~(std::uint64_t{1} << first_awaited_);
    in_flight_ = static_cast<std::uint32_t>(next_ - 1 - awaited_sequence_);
    if (in_flight_ == 0) stay_on_line();
    if (--awaited_ == 0) return;
    std::uint32_t step = 1;
    const std::uint32_t next = (first_awaited_ + 1) % kSlots;
    if ((wants_reply_ >> next & 1) == 0) {  // one-way requests in between
      step += static_cast<std::uint32_t>(std::countr_zero(turn(wants_reply_, next)));
    }
    first_awaited_ = (first_awaited_ + step) % kSlots;
    awaited_sequence_ += step;
  }

  // Frees the oldest one-way slots that the consumer has read, up to the first that it returned.
  void release_consumed(const Slot* slots, const Progress& progress) noexcept {
    // pairs with: Consumer::publish()
    const std::uint64_t consumed = progress.consumed.load(std::memory_order_acquire);
    if (any_returned(progress)) [[unlikely]]
      return release_up_to_returned(slots, consumed);
    const std::uint64_t first_kept =
        std::min(consumed + 1, awaited_ != 0 ? awaited_sequence_ : next_);
    if (first_kept <= oldest_sequence()) return;
    in_flight_ = static_cast<std::uint32_t>(next_ - first_kept);
    if (in_flight_ == 0) stay_on_line();
  }

  // Whether more have been returned than taken. No order of its own: whoever has seen a request as
  // read, or a later reply, has seen its count.
  // pairs with: Consumer::give_back(), through publish() or answer()
  bool any_returned(const Progress& progress) const noexcept {
    return progress.returned.load(std::memory_order_relaxed) != returned_;
  }

  // Takes the oldest one-way request that was returned, after having freed those before it. False:
  // there is none. Its slot is free, and what it holds is good until the next commit().
  bool take_returned(const Slot* slots, const Progress& progress, std::uint32_t& slot) noexcept {
    release_consumed(slots, progress);
    // pairs with: Consumer::publish()
    const std::uint64_t consumed = progress.consumed.load(std::memory_order_acquire);
    if (!any_returned(progress) || !oldest_is_one_way() || oldest_sequence() > consumed) {
      return false;
    }
    return take_oldest(slots, slot);
  }

  // The same of those that are older than a reply which is ready. Call it until it says false,
  // before release_reply().
  bool take_returned_before_reply(const Slot* slots, const Progress& progress,
                                  std::uint32_t& slot) noexcept {
    if (!oldest_is_one_way() || !any_returned(progress)) [[likely]]
      return false;
    while (oldest_is_one_way()) {
      if (take_oldest(slots, slot)) return true;
      release_oldest();
    }
    return false;
  }

  // Of requests that nobody will read any more: frees the oldest, of any kind, whose slot is
  // oldest_slot(). What it holds is good until the next commit().
  bool oldest_is_one_way() const noexcept {
    return in_flight_ != 0 && (wants_reply_ >> oldest_slot() & 1) == 0;
  }
  std::uint32_t oldest_slot() const noexcept { return (last_ + 1 + kSlots - in_flight_) % kSlots; }
  void release_oldest() noexcept {
    if ((wants_reply_ >> oldest_slot() & 1) != 0) return release_reply();
    if (--in_flight_ == 0) stay_on_line();
  }

  // The state that outlives this producer when another takes over its ring, which it does when the
  // consumer has read everything; `returned` is then Progress::returned.
  std::uint64_t next_sequence() const noexcept { return next_; }
  std::uint32_t last_slot() const noexcept { return last_; }
  void resume(std::uint64_t next_sequence, std::uint32_t last_slot,
              std::uint64_t returned) noexcept {
    next_ = next_sequence;
    returned_ = returned;
    last_ = next_slot_ = last_slot;
    if (rotating()) next_slot_ = (last_ + 1) % kSlots;
  }

 private:
  std::uint64_t oldest_sequence() const noexcept { return next_ - in_flight_; }
  void release_up_to_returned(const Slot* slots, std::uint64_t consumed) noexcept {
    while (oldest_is_one_way() && oldest_sequence() <= consumed && !oldest_returned(slots)) {
      release_oldest();
    }
  }
  // Of a one-way request that has been read.
  // pairs with: Consumer::give_back()
  bool oldest_returned(const Slot* slots) const noexcept {
    const auto& reply = slots[oldest_slot()].reply;
    return is_head_of(reply.head.load(std::memory_order_acquire), oldest_sequence());
  }
  bool take_oldest(const Slot* slots, std::uint32_t& slot) noexcept {
    if (!oldest_returned(slots)) return false;
    slot = oldest_slot();
    ++returned_;
    release_oldest();
    return true;
  }
  // Whether the next request belongs to a pass through the whole ring: one of the last kSlots of a
  // period.
  bool rotating() const noexcept { return ((next_ + kSlots) & (kPeriod - 1)) < kSlots; }
  // Nothing is in flight.
  void stay_on_line() noexcept {
    if (!rotating()) [[likely]]
      next_slot_ = last_;
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
  std::uint64_t returned_ = 0;          // one-way requests that came back and were taken
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
    // one slot only, and then a load of another line first would delay every message.
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

  // Goes on to the next after a one-way request. True: progress was published.
  bool finish_one_way(const Slot* slots, const Slot& slot, Progress& progress) noexcept {
    advance(slots, slot);
    if (++unpublished_ < kBatch) return false;
    publish(progress);
    return true;
  }

  // Returns the one-way request in `slot`, whose reply half says why, and goes on to the next.
  void give_back(const Slot* slots, Slot& slot, Mark mark, Progress& progress) noexcept {
    // pairs with: Producer::oldest_returned()
    slot.reply.head.store(make_head(expected_, mark), std::memory_order_release);
    const std::uint64_t before = progress.returned.load(std::memory_order_relaxed);
    progress.returned.store(before + 1, std::memory_order_relaxed);
    advance(slots, slot);
    publish(progress);
  }

  // Publishes how far this has read.
  void publish(Progress& progress) noexcept {
    unpublished_ = 0;
    // pairs with: Producer::release_consumed() and take_returned()
    progress.consumed.store(consumed(), std::memory_order_release);
  }

  std::uint64_t consumed() const noexcept { return expected_ - 1; }
  std::uint32_t last_slot() const noexcept { return last_; }  // of the newest request read

  // Goes on where another consumer has ended: see Producer::resume().
  void resume(std::uint64_t next_sequence, std::uint32_t last_slot) noexcept {
    expected_ = next_sequence;
    last_ = last_slot;
    step_ = unpublished_ = 0;
  }

 private:
  // pairs with: Producer::commit()
  bool is_next(const Slot& slot) const noexcept {
    return is_head_of(slot.request.head.load(std::memory_order_acquire), expected_);
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
