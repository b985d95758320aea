#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/link/datagram/window/slots.h"
#include "am/link/datagram/window/wire.h"
#include "am/link/packet.h"
#include "am/types/clock.h"

namespace am::link::window {

// The receiving half of the window from one source: which numbers have come, and copies of those
// that cannot be delivered yet.
//
//      delivered_         arrived_
//   all |   kept, complete   |   kept where they have come, gaps between   | kWindow from
//   delivered_
//
// Pure logic. Thread rule: the link's. Allocates once, when the first datagram comes early.
class Receiver {
 public:
  enum class Arrival : std::uint8_t {
    kNext,       // to be delivered now, before next_kept()
    kKept,       // a copy is kept
    kDuplicate,  // it has come before: dropped
    kBeyond,     // the window does not reach so far: dropped
    kNoRoom,     // the pool for copies is exhausted: dropped
  };

  // `pool` outlives the receiver.
  Receiver(SlotPool& pool, std::uint64_t first_number) noexcept
      : pool_(pool), delivered_(first_number), arrived_(first_number) {}
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  // A datagram has come. `may_deliver`: the caller could deliver it now.
  Arrival arrive(const Datagram& datagram, bool may_deliver);
  // The next datagram that was kept and can be delivered, nullptr: none. The caller gives it back
  // to the pool when it has been read.
  Slot* next_kept() noexcept;
  // Whether next_kept() would return one.
  bool has_next() const noexcept { return delivered_ != arrived_; }

  // What an acknowledgement says.
  std::uint64_t arrived() const noexcept { return arrived_; }
  std::uint64_t selective(unsigned word) const noexcept { return early_[word]; }
  bool has_gap() const noexcept { return (early_[0] | early_[1]) != 0; }
  // How many numbers from arrived() on there is room for.
  std::uint32_t room() const noexcept {
    return kWindow - static_cast<std::uint32_t>(arrived_ - delivered_);
  }
  std::uint32_t kept() const noexcept { return kept_; }

 private:
  bool is_early(std::uint64_t number) const noexcept;
  bool keep(std::uint64_t number, std::span<const std::byte> payload);
  void advance() noexcept;

  SlotPool& pool_;
  std::uint64_t delivered_;               // all numbers before have been delivered
  std::uint64_t arrived_;                 // ... have arrived
  std::array<std::uint64_t, 2> early_{};  // bit i of word i / 64: arrived_ + 1 + i has arrived
  std::uint32_t kept_ = 0;
  // By number modulo kWindow: those from delivered_ on that have arrived.
  using Kept = std::array<Slot*, kWindow>;
  std::unique_ptr<Kept> slots_;
};

// Room for a packet that does not fit into one datagram, while it is written. One for all senders
// of a process.
struct Staging {
  alignas(8) std::byte bytes[kMaxPacket];
};

struct Acknowledged {
  std::uint32_t count = 0;      // datagrams that were not acknowledged before
  std::int64_t newest_ns = -1;  // when the one of these was sent that was sent last
};

// The sending half of the window towards one receiver: packets become numbered datagrams, which
// stay in their slots until they are acknowledged.
//
//   first_        next_          end_
//     | in flight,  | queued,      |
//     | lost, acked | never sent   |
//
// Packets that follow one another share a datagram until that is sent for the first time; a packet
// with more bytes than a datagram has goes on in the next one. Packets never begin or end within 8
// bytes. The first datagram that waits is small, as long as small packets come: mostly no other
// follows before it is sent.
//
// Pure logic. Thread rule: the link's. Allocates nothing once the queue has been as long as it
// gets.
class Sender {
 public:
  // The first datagram has `first_number`. `pool` has no limit. Both outlive the sender.
  Sender(SlotPool& pool, Staging& staging, std::uint64_t first_number)
      : pool_(pool),
        staging_(staging),
        fill_(pool.datagram_bytes()),
        first_(first_number),
        next_(first_number),
        end_(first_number) {}
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // Room for a packet of `bytes`, a multiple of 8 up to kMaxPacket; next comes commit(). Throws
  // what the pool's source throws, std::bad_alloc: then nothing has happened.
  std::byte* claim(std::uint32_t bytes);
  void commit() noexcept;
  // From now on datagrams are filled up to so many bytes, a multiple of 8, if they may be so long.
  void set_fill(std::size_t bytes) noexcept { fill_ = std::min(bytes, pool_.datagram_bytes()); }

  bool unacknowledged() const noexcept { return first_ != end_; }
  bool has_lost() const noexcept { return lost_ != 0; }
  bool has_new() const noexcept { return next_ != end_; }
  std::uint32_t in_flight() const noexcept { return in_flight_; }
  std::size_t queued() const noexcept { return end_ - next_; }
  std::size_t queued_bytes() const noexcept { return queued_bytes_; }  // of packets in these
  // What those that were sent may take at the receiver, from the first that is not acknowledged on.
  std::uint64_t charged() const noexcept { return charged_; }
  std::uint64_t first() const noexcept { return first_; }
  std::uint64_t next() const noexcept { return next_; }

  // The oldest lost datagram that can be sent again now; nullptr: there is none.
  Slot* next_lost() noexcept;
  // The oldest that has never been sent; if has_new().
  Slot& next_new() noexcept { return slot(next_); }
  const Slot& next_new() const noexcept { return slot(next_); }
  // It has been given to the network, which reads it until completed() if `in_network`.
  void sent(Slot& slot, std::int64_t now_ns, bool in_network) noexcept;
  // The network has read it.
  void completed(Slot& slot) noexcept;

  // Whether what `header` acknowledges has been sent at all.
  bool plausible(const DatagramHeader& header) const noexcept;
  // Takes what it acknowledges; only if plausible().
  Acknowledged acknowledge(const DatagramHeader& header) noexcept;

  // A datagram that was sent at `arrived_sent_ns` has arrived. Those that were sent before and are
  // not acknowledged are lost, when `overdue_ns` have passed since they were sent, or when
  // kOvertaken have arrived that have later numbers (as long as it was not sent again: then these
  // say nothing). Calls lost(slot) for each; returns when the next one will be, -1: none.
  template <class Lost>
  std::int64_t find_lost(std::int64_t arrived_sent_ns, std::int64_t now_ns, std::int64_t overdue_ns,
                         Lost&& lost) {
    std::int64_t earliest_ns = -1;
    for (std::uint64_t number = first_; number != next_; ++number) {
      Slot& one = slot(number);
      if (one.acked || one.lost) continue;
      if (one.sent_ns >= arrived_sent_ns) {
        // Those behind it were sent later, unless it was sent again since.
        if (!one.repeated) break;
        continue;
      }
      const std::int64_t due_ns = one.sent_ns + overdue_ns;
      const bool overtaken = !one.repeated && number + kOvertaken <= highest_;
      if (now_ns < due_ns && !overtaken) {
        earliest_ns = earlier(earliest_ns, due_ns);
        continue;
      }
      mark_lost(one);
      lost(one);
    }
    return earliest_ns;
  }

  // Nothing has been heard for long: the oldest datagram is to be sent again. False: it cannot be,
  // as the network still has it, or there is none in flight; or it is long, and should not be sent
  // twice before the peer has answered something.
  bool repeat_oldest() noexcept;

 private:
  Slot& slot(std::uint64_t number) noexcept { return *ring_[number & (ring_.size() - 1)]; }
  const Slot& slot(std::uint64_t number) const noexcept {
    return *ring_[number & (ring_.size() - 1)];
  }
  std::size_t room(const Slot& slot) const noexcept {
    const std::size_t most = std::min(slot.memory.size(), fill_);
    return most - std::min<std::size_t>(most, slot.bytes);
  }
  void reserve(std::size_t count, std::size_t bytes);
  Slot& append(std::size_t bytes) noexcept;
  void grow();
  Slot* open() noexcept;
  void mark_lost(Slot& slot) noexcept;
  void mark_acked(std::uint64_t number, Acknowledged& result) noexcept;

  static constexpr std::uint64_t kOvertaken = 3;  // as TCP's duplicate acknowledgements

  SlotPool& pool_;
  Staging& staging_;
  std::size_t fill_;
  std::vector<Slot*> ring_;  // by number, a power of two of them
  std::uint64_t first_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::uint64_t highest_ = 0;    // of all numbers that have been acknowledged
  std::uint32_t in_flight_ = 0;  // sent, neither acknowledged nor lost
  std::uint32_t lost_ = 0;
  std::size_t queued_bytes_ = 0;
  std::uint64_t charged_ = 0;
  std::uint32_t claimed_ = 0;  // bytes
  bool staged_ = false;        // ... of which are in staging_
};

}  // namespace am::link::window
