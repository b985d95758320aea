#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shmem/doorbell.h"
#include "shmem/fence.h"
#include "shmem/mailbox_layout.h"
#include "shmem/region.h"
#include "shmem/ring.h"

// Messages between processes of one node. A Mailbox is the receiver's end: one inbox per connected
// sender, each with three rings (lanes) of its own. An Outbox is the sender's end of one inbox.
//
// The lower 15 bits of a mark belong to the user; the highest, kOneWay, says that nothing comes
// back.
//
// Thread rule: a Mailbox and the Outboxes of one endpoint are used by one thread at a time.

namespace shmem {

inline constexpr Mark kOneWay = 0x8000;

// One request and the room its reply lives in. Valid until the reply has been committed (receiver)
// or released (sender).
struct Room {
  Slot* slot;
  Extension* extension;
  std::byte* request_payload;  // kPayloadBytes in the medium lane, nullptr in the others
  std::byte* reply_payload;    // kPayloadBytes
};

// The sender's end.
class Outbox {
 public:
  // Opens the mailbox at `address` and claims an inbox there, telling its owner who is calling:
  // `caller`, at most kCallerBytes. `bell` wakes the owner and outlives the outbox.
  // Throws shmem::Error if the mailbox is gone, of another version, or has no inbox left.
  Outbox(const Region::Address& address, std::span<const std::byte> caller, Doorbell& bell,
         Fence fence);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Room for one request, or false while every slot of the lane is in flight: reap, then ask again.
  // Claiming twice without a commit gives the same room.
  template <Lane kLane>
  [[nodiscard]] bool try_claim(Room& room) noexcept {
    auto& producer = sent_.of<kLane>();
    if (producer.full()) {
      producer.release_consumed(inbox_->consumed[index(kLane)].value());
      if (producer.full()) return false;
    }
    room = inbox_->room<kLane>(producer.next_slot());
    return true;
  }

  // Sends what `room` holds.
  template <Lane kLane>
  void commit(const Room& room, Mark mark) noexcept {
    const bool one_way = (mark & kOneWay) != 0;
    sent_.of<kLane>().commit(*room.slot, mark, one_way);
    awaited_ += one_way ? 0 : 1;
    announce(kLane);
  }

  // Hands every reply that has come to `sink.reply<kLane>(room, mark)`, oldest first in each lane,
  // after freeing its slot: the sink may send again, but must be done with `room` before it does.
  // Returns how many.
  template <class Sink>
  int reap(Sink&& sink) {
    return reap_lane<Lane::kShort>(sink) + reap_lane<Lane::kMedium>(sink) +
           reap_lane<Lane::kLong>(sink);
  }

  // Whether reap() would find a reply.
  bool has_reply() const noexcept {
    std::uint32_t slot;
    const auto ready = [&](const auto& producer, const Slot* slots) {
      return producer.awaited() != 0 && producer.reply_ready(slots, slot);
    };
    return ready(sent_.shorts, inbox_->shorts.slots) ||
           ready(sent_.mediums, inbox_->mediums.slots) || ready(sent_.longs, inbox_->longs.slots);
  }

  // Requests whose reply is still to come.
  std::uint32_t awaited() const noexcept { return awaited_; }
  // Requests in flight in one lane, as far as known here; at most window(kLane).
  template <Lane kLane>
  std::uint32_t in_flight() const noexcept {
    return sent_.of<kLane>().in_flight();
  }

  // What the mailbox's owner has published about itself; see Mailbox::owner_page().
  const std::byte* owner_page() const noexcept { return header_->owner_page; }

  // What the mailbox's owner was told about this sender; atomic_ref may change it later.
  std::byte* caller() noexcept { return inbox_->caller; }

  // Gives the inbox back. Only when nothing is in flight in any lane.
  void close() noexcept;

 private:
  // Tells the receiver to look at this lane, unless it already does.
  // pairs with: Mailbox::rest() and Doorbell::about_to_sleep(), both through Fence::heavy()
  void announce(Lane lane) noexcept {
    fence_.light();
    const std::uint64_t bit = lane_bit_ << index(lane);
    if ((lane_word_->load(std::memory_order_relaxed) & bit) == 0)
      header_->raise(inbox_number_, lane);
    bell_.notify(fence_);
  }

  template <Lane kLane, class Sink>
  int reap_lane(Sink& sink) {
    auto& producer = sent_.of<kLane>();
    int count = 0;
    std::uint32_t slot;
    while (producer.awaited() != 0 && count < kBudget &&
           producer.reply_ready(inbox_->slots<kLane>(), slot)) {
      const Room room = inbox_->room<kLane>(slot);
      // The next replies are probably there, and their slots will be written again soon.
      if (producer.awaited() > kAhead) {
        __builtin_prefetch(&inbox_->slots<kLane>()[(slot + kAhead) % window(kLane)], 1);
      }
      producer.release_reply();
      --awaited_;
      ++count;
      sink.template reply<kLane>(room,
                                 mark_of(room.slot->reply.head.load(std::memory_order_relaxed)));
    }
    return count;
  }

  // Constant after construction.
  Region region_;
  MailboxHeader* header_;
  Inbox* inbox_;
  std::atomic<std::uint64_t>* lane_word_;
  std::uint64_t lane_bit_;
  Doorbell& bell_;
  Fence fence_;
  std::uint32_t inbox_number_;
  // Owned by the bundle's thread.
  Cursors<Producer> sent_;
  std::uint32_t awaited_ = 0;  // in all lanes
};

// The receiver's end.
class Mailbox {
 public:
  // Room for `inboxes` senders, at most kMaxInboxes. Memory is touched only as senders use it.
  Mailbox(std::uint32_t inboxes, Fence fence);

  Region::Address address() const noexcept { return region_.address(); }
  // One page-sized record that every Outbox can read; all zero at first. Its user writes it.
  std::byte* owner_page() noexcept { return header_->owner_page; }

  // Hands requests that have come to the sink, at most kBudget of each lane, in order within a
  // lane:
  //   Doorbell& sink.opened(inbox, caller)     once per sender, before its first message; the
  //                                            result wakes that sender and outlives the mailbox
  //   Mark sink.request<kLane>(inbox, room, mark)   the mark of the reply it has put into `room`
  //   void sink.one_way<kLane>(inbox, room, mark)
  //   void sink.closed(inbox)                  the sender has gone
  // An exception of the sink passes through after the message is finished with kNoReply.
  // Returns how many messages were handed over.
  template <class Sink>
  int poll(Sink&& sink);

  // Whether poll() would find something. May say yes where nothing is; never no where something is.
  bool has_message() noexcept;

  static constexpr Mark kNoReply = 0;

 private:
  struct Reader {
    bool open = false;         // its first message has come
    Doorbell* bell = nullptr;  // the sender's
    Cursors<Consumer> read;
  };

  // A lane that is looked at by every poll.
  struct Active {
    std::uint32_t inbox;
    std::uint32_t bit;  // a Lane, or kClosedBit
  };
  template <class Sink>
  int poll_lane(Active lane, Sink& sink);
  template <Lane kLane, class Sink>
  int drain(std::uint32_t number, Sink& sink);
  template <Lane kLane>
  void finish(Inbox& inbox, Reader& reader, Slot& slot, Mark mark, Mark reply);
  template <class Sink>
  void open(std::uint32_t number, Reader& reader, Sink& sink);
  template <class Sink>
  void hang_up(std::uint32_t number, Sink& sink);
  bool lane_has_message(Active lane) noexcept;
  // Finds the lanes that senders have raised since the last time.
  void find_raised() noexcept;
  // Looks at lanes no longer where nothing came for kSweep polls, so that idle senders cost
  // nothing.
  void rest() noexcept;

  static constexpr std::uint32_t kSweep = 4096;  // empty polls between two looks at idle lanes

  // Constant after construction.
  Region region_;
  MailboxHeader* header_;
  Fence fence_;
  // Owned by the bundle's thread.
  std::unique_ptr<Reader[]> readers_;
  std::vector<Active> active_;
  std::vector<std::uint64_t> known_;  // the bits of active_, in the shape of MailboxHeader::words
  std::uint64_t raises_seen_ = 0;
  std::uint32_t empty_polls_ = 0;
};

}  // namespace shmem

#include "shmem/mailbox_poll.h"
