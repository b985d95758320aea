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
//  * Slot: the first half is written by the producer, the second by the consumer, each completed by
//    a release store of its head word: sequence number (47 bits), one bit that is always set, and a
//    mark (16 bits) that the user of the ring chooses. Requests are numbered by 64-bit counters,
//    from 1; the head holds the low bits.
//  * Both sides know a slot by its number alone: (number - base) modulo the slots. The base moves
//    only when nothing is in flight, and in flight is what lies between two numbers: so a request
//    changes one private word on each side, and so does its reply.
//  * A head matches no other request than its own. Zeroed memory lacks the bit that is always set,
//    so it is an empty ring. And around every 2^40th request the producer goes once through the
//    whole ring and clears the reply heads, so that no head is ever older than 2^41 requests.
//  * A request without one-way mark is answered in its own slot: the reply's room is reserved by
//    construction, and its arrival is the return of the credit. The producer remembers one-way
//    requests, so where there are none it remembers nothing of a request.
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

// One slot of a ring in shared memory: a cache line, half of it the request, half the reply. What
// the bytes mean is for the ring's user.

// What a head word holds beside the sequence number.
using Mark = std::uint16_t;
// The bit of a request's mark that says: there is no reply.
inline constexpr Mark kOneWay = 0x8000;

inline constexpr std::uint64_t make_head(std::uint64_t sequence, Mark mark) noexcept {
  return (sequence << 17) | (std::uint64_t{1} << 16) | mark;
}
inline constexpr Mark mark_of(std::uint64_t head) noexcept { return static_cast<Mark>(head); }
inline constexpr std::uint64_t request_number(std::uint64_t head) noexcept { return head >> 17; }
// Whether `head` is that of request number `sequence`.
inline constexpr bool is_head_of(std::uint64_t head, std::uint64_t sequence) noexcept {
  return (head ^ make_head(sequence, 0)) >> 16 == 0;
}

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

  bool full() const noexcept { return next_ - oldest_ == kSlots; }
  std::uint32_t in_flight() const noexcept { return static_cast<std::uint32_t>(next_ - oldest_); }
  // Requests whose reply is to come.
  std::uint32_t awaited() const noexcept {
    if (one_way_slots_ == 0) [[likely]]
      return in_flight();
    return in_flight() - static_cast<std::uint32_t>(std::popcount(one_way_slots_));
  }
  // The slots of these, a bit each.
  std::uint64_t awaited_slots() const noexcept { return slots_below(next_) & ~one_way_slots_; }

  // The slot for the next request; only if not full().
  std::uint32_t next_slot() const noexcept { return slot_of(next_); }

  // Passes `slot` (which is next_slot(), filled) to the consumer. `one_way` is what the mark says.
  [[gnu::always_inline]] void commit(Slot& slot, Mark mark, bool one_way) noexcept {
    if (rotating()) [[unlikely]]
      pass_through(slot);
    if (one_way) one_way_slots_ |= std::uint64_t{1} << slot_of(next_);
    // pairs with: Consumer::peek()
    slot.request.head.store(make_head(next_, mark), std::memory_order_release);
    ++next_;
  }

  // A reply that has come.
  struct Answered {
    std::uint64_t number;  // of its request
    Slot* slot;
    std::uint64_t head;
  };
  // The oldest reply, if it has come.
  // pairs with: Consumer::answer()
  [[gnu::always_inline]] bool find_reply(Slot* slots, Answered& answered) noexcept {
    answered.number = first_awaited();
    if (answered.number == next_) return false;
    answered.slot = &slots[slot_of(answered.number)];
    answered.head = answered.slot->reply.head.load(std::memory_order_acquire);
    return is_head_of(answered.head, answered.number);
  }
  // Frees its slot, and every older one-way slot with it. What was sent since then changes nothing.
  void release_reply(const Answered& answered) noexcept {
    if (one_way_slots_ != 0) [[unlikely]]
      one_way_slots_ &= ~slots_below(answered.number);
    free_below(answered.number + 1);
  }

  // Frees the oldest one-way slots that the consumer has read, up to the first that it returned.
  void release_consumed(const Slot* slots, const Progress& progress) noexcept {
    if (one_way_slots_ == 0) return;
    // pairs with: Consumer::publish()
    const std::uint64_t consumed = progress.consumed.load(std::memory_order_acquire);
    if (any_returned(progress)) [[unlikely]]
      return release_up_to_returned(slots, consumed);
    const std::uint64_t awaited = first_awaited();
    const std::uint64_t first_kept = consumed + 1 < awaited ? consumed + 1 : awaited;
    if (first_kept <= oldest_) return;
    one_way_slots_ &= ~slots_below(first_kept);
    free_below(first_kept);
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
    if (!any_returned(progress) || !oldest_is_one_way() || oldest_ > consumed) return false;
    return take_oldest(slots, slot);
  }

  // Takes returned messages that are older than a reply that find_reply() has found. Call it until
  // it says false, before release_reply().
  bool take_returned_before(const Answered& answered, const Slot* slots, const Progress& progress,
                            std::uint32_t& slot) noexcept {
    if (one_way_slots_ == 0) [[likely]]
      return false;
    if (oldest_ == answered.number || !any_returned(progress)) return false;
    while (oldest_ != answered.number) {  // these are one-way
      if (take_oldest(slots, slot)) return true;
      release_oldest();
    }
    return false;
  }

  // Of requests that nobody will read any more: frees the oldest, of any kind, whose slot is
  // oldest_slot(). What it holds is good until the next commit().
  bool oldest_is_one_way() const noexcept { return (one_way_slots_ >> oldest_slot() & 1) != 0; }
  std::uint32_t oldest_slot() const noexcept { return slot_of(oldest_); }
  void release_oldest() noexcept {
    one_way_slots_ &= ~slots_below(oldest_ + 1);
    free_below(oldest_ + 1);
  }

  // The state that outlives this producer when another takes over its ring, which it does when the
  // consumer has read everything; `returned` is then Progress::returned.
  std::uint64_t next_sequence() const noexcept { return next_; }
  std::uint32_t last_slot() const noexcept {  // of the newest request
    return slot_of(in_flight() == 0 && !rotating() ? next_ : next_ - 1);
  }
  void resume(std::uint64_t next_sequence, std::uint32_t last_slot,
              std::uint64_t returned) noexcept {
    next_ = oldest_ = next_sequence;
    rotating_from_ = (next_sequence | (kPeriod - 1)) + 1 - kSlots;
    returned_ = returned;
    one_way_slots_ = 0;
    base_ = static_cast<std::uint32_t>(next_sequence - 1) - last_slot;
    stay_on_line();
  }

 private:
  // Of a request in flight, or the next.
  std::uint32_t slot_of(std::uint64_t number) const noexcept {
    return (static_cast<std::uint32_t>(number) - base_) % kSlots;
  }
  // The slots of those in flight that are older than `number`, which is one of them or the next.
  std::uint64_t slots_below(std::uint64_t number) const noexcept {
    const std::uint64_t count = number - oldest_;
    return turned_left(count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1,
                       oldest_slot());
  }
  // The oldest request that awaits a reply, or the next one.
  std::uint64_t first_awaited() const noexcept {
    if (one_way_slots_ == 0) [[likely]]
      return oldest_;
    const std::uint64_t from_oldest =
        turned_left(one_way_slots_, (kSlots - oldest_slot()) % kSlots);
    return oldest_ + static_cast<std::uint32_t>(std::countr_one(from_oldest));
  }
  // Of a mask of slots.
  static std::uint64_t turned_left(std::uint64_t mask, std::uint32_t by) noexcept {
    if constexpr (kSlots == 64) {
      return std::rotl(mask, static_cast<int>(by));
    } else {
      return (mask << by | mask >> (kSlots - by)) & ((std::uint64_t{1} << kSlots) - 1);
    }
  }
  void free_below(std::uint64_t number) noexcept {
    oldest_ = number;
    if (number == next_) stay_on_line();
  }
  void release_up_to_returned(const Slot* slots, std::uint64_t consumed) noexcept {
    while (oldest_is_one_way() && oldest_ <= consumed && !oldest_returned(slots)) {
      release_oldest();
    }
  }
  // Of a one-way request that has been read.
  // pairs with: Consumer::give_back()
  bool oldest_returned(const Slot* slots) const noexcept {
    const auto& reply = slots[oldest_slot()].reply;
    return is_head_of(reply.head.load(std::memory_order_acquire), oldest_);
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
  bool rotating() const noexcept { return next_ >= rotating_from_; }
  [[gnu::cold]] void pass_through(Slot& slot) noexcept {
    // No partner: the consumer sees this with the request.
    slot.reply.head.store(0, std::memory_order_relaxed);
    if ((next_ & (kPeriod - 1)) == kPeriod - 1) rotating_from_ += kPeriod;
  }
  // Nothing is in flight, and the base is that of the newest request.
  void stay_on_line() noexcept {
    if (!rotating()) [[likely]]
      ++base_;
  }

  std::uint64_t next_ = 1;    // number of the next request
  std::uint64_t oldest_ = 1;  // of the oldest whose slot is not free again; next_ if there is none
  // Of one-way requests in flight, a bit each. (Their marks would say so, too. But a processor may
  // give a changed line away for good to who reads it: then each look at one brings it back, and a
  // flood of them takes four times as long.)
  std::uint64_t one_way_slots_ = 0;
  std::uint64_t rotating_from_ = kPeriod - kSlots;  // of the next pass through the whole ring
  std::uint64_t returned_ = 0;  // one-way requests that came back, and were taken
  std::uint32_t base_ = 1;
};

// The consumer's private view of the same ring.
template <std::uint32_t kSlots>
class Consumer {
 public:
  static constexpr std::uint32_t kBatch = kSlots / 4;  // one-way requests per published count

  // The next request, or nullptr. It stays the next one until finish() is called.
  // pairs with: Producer::commit()
  Slot* peek(Slot* slots) noexcept {
    std::uint64_t head;
    return peek(slots, head);
  }
  // Peeks, and tells the head of what is there. First it looks where the last was found in relation
  // to the one before: an idle pair of processes uses one slot only, and then a load of another
  // line first would delay every message.
  [[gnu::always_inline]] Slot* peek(Slot* slots, std::uint64_t& head) noexcept {
    const std::uint64_t expected = expected_;
    Slot* const first = &slots[slot_of(expected)];
    // pairs with: Producer::commit()
    head = first->request.head.load(std::memory_order_acquire);
    if (is_head_of(head, expected)) [[likely]]
      return first;
    const std::uint32_t other = stays_ ? base_ - 1 : base_ + 1;
    Slot* const second = &slots[(static_cast<std::uint32_t>(expected) - other) % kSlots];
    // pairs with: Producer::commit()
    head = second->request.head.load(std::memory_order_acquire);
    if (!is_head_of(head, expected)) return nullptr;
    base_ = other;
    stays_ = !stays_;
    return second;
  }

  // Answers the request in `slot`, whose reply half is filled, and goes on to the next.
  // pairs with: Producer::find_reply()
  [[gnu::always_inline]] void answer(Slot& slot, Mark mark) noexcept {
    const std::uint64_t expected = expected_;  // read once, though the store might be to it
    slot.reply.head.store(make_head(expected, mark), std::memory_order_release);
    advance(expected);
  }

  // Goes on to the next after a one-way request. True: progress was published.
  [[gnu::always_inline]] bool finish_one_way(Progress& progress) noexcept {
    advance(expected_);
    if (++unpublished_ < kBatch) return false;
    publish(progress);
    return true;
  }

  // Returns the one-way request in `slot`, whose reply half says why, and goes on to the next.
  void give_back(Slot& slot, Mark mark, Progress& progress) noexcept {
    // pairs with: Producer::oldest_returned()
    slot.reply.head.store(make_head(expected_, mark), std::memory_order_release);
    const std::uint64_t before = progress.returned.load(std::memory_order_relaxed);
    progress.returned.store(before + 1, std::memory_order_relaxed);
    advance(expected_);
    publish(progress);
  }

  // Publishes how far this has read.
  void publish(Progress& progress) noexcept {
    unpublished_ = 0;
    // pairs with: Producer::release_consumed() and take_returned()
    progress.consumed.store(consumed(), std::memory_order_release);
  }

  std::uint64_t consumed() const noexcept { return expected_ - 1; }
  // Changes when something is said to the producer: by an answer, or a published count.
  std::uint64_t told() const noexcept { return consumed() - unpublished_; }
  // Of the newest request read.
  std::uint32_t last_slot() const noexcept { return slot_of(stays_ ? expected_ : expected_ - 1); }

  // Goes on where another consumer has ended: see Producer::resume().
  void resume(std::uint64_t next_sequence, std::uint32_t last_slot) noexcept {
    expected_ = next_sequence;
    base_ = static_cast<std::uint32_t>(next_sequence) - last_slot;
    stays_ = true;
    unpublished_ = 0;
  }

 private:
  std::uint32_t slot_of(std::uint64_t number) const noexcept {
    return (static_cast<std::uint32_t>(number) - base_) % kSlots;
  }
  void advance(std::uint64_t expected) noexcept {
    expected_ = expected + 1;
    if (stays_) ++base_;
  }

  std::uint64_t expected_ = 1;
  std::uint32_t base_ = 1;         // where the next is looked for first
  bool stays_ = true;              // ... namely in the slot of the newest that was read
  std::uint32_t unpublished_ = 0;  // one-way requests read since the last published count
};

}  // namespace shmem
