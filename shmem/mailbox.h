#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shmem/attention.h"
#include "shmem/doorbell.h"
#include "shmem/mailbox_layout.h"
#include "shmem/owned.h"
#include "shmem/region.h"
#include "shmem/ring.h"

// Messages between processes of one node. A Mailbox is the receiver's end: one inbox per connected
// sender, each with three rings (lanes) of its own. An Outbox is the sender's end of one inbox.
//
// The lower 15 bits of a mark belong to the user; the highest, kOneWay, says that there is no
// reply (shmem/mailbox_layout.h).
//
// Each end may go at any time, without waiting for the other:
//  * A sender that closes its outbox leaves what it has sent. The receiver reads it, returns the
//    replies that the sender has not read to whoever made them, and frees the inbox.
//  * A receiver that closes its mailbox first publishes exactly how far it has read in each lane,
//    and then that it has closed (MailboxHeader::closed, with release order); after that it reads
//    nothing and writes nothing. So a sender that has read `closed` sees for each request whether
//    it was read: those that were have their reply or their return in their slot, and all others
//    are the sender's again, also those sent after the close. The memory stays while a sender maps
//    it.
//  * A sender checks `closed` after it has claimed its inbox, and the receiver checks for inboxes
//    in use after it has closed, each with a full fence in between: one of them finds the other.
//    The receiver raises the alert of the senders it finds (Doorbell::alert), so that none has to
//    check again.
//
// A process that dies closes nothing. Those that live are told so, from outside: a sender by
// Outbox::owner_died(), a receiver by Mailbox::bury(). Both then do for the dead what its end of
// the inbox would have done: each is the only one that uses it.
//
// Thread rule: a Mailbox and the Outboxes of one endpoint are used by one thread at a time; or by
// several, as Threads::kAny says (shmem/mailbox_layout.h). Then a lane that one of them is passing
// on is left out by the others, so that its messages stay in order, and what a sink was given stays
// until it returns.

namespace shmem {

// The sender's end.
class Outbox {
 public:
  // Opens the mailbox at `address` and claims an inbox there; `caller`, at most kCallerBytes, says
  // to its owner who is sending. `bell` wakes the owner and outlives the outbox. Returns nullptr
  // when every inbox is taken, but some have been given back and wait for the owner's next poll.
  // Throws Gone if there is no mailbox (any more), Error if it is of another version, or has no
  // inbox left.
  [[nodiscard]] static Owned<Outbox> try_open(const Region::Address& address,
                                              std::span<const std::byte> caller, Doorbell& bell,
                                              Fence fence);
  // Of a mailbox that was gone before it could be opened: takes requests, which abandon() returns.
  [[nodiscard]] static Owned<Outbox> to_nobody(Doorbell& bell, Fence fence);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Room for one request, or false while every slot of the lane is in flight: reap, then ask again.
  // Claiming twice without a commit gives the same room.
  template <Lane kLane>
  [[nodiscard]] bool try_claim(Room& room) noexcept {
    auto& producer = sent_.of<kLane>();
    if (producer.full()) {
      producer.release_consumed(inbox_->slots<kLane>(), progress<kLane>());
      if (producer.full()) return false;
    }
    room = inbox_->room<kLane>(producer.next_slot());
    return true;
  }

  // Sends what `room` holds.
  template <Lane kLane>
  void commit(Room room, Mark mark) noexcept {
    sent_.of<kLane>().commit(*room.slot, mark, (mark & kOneWay) != 0);
    announce(kLane);
  }

  // Passes what has come back to the sink, oldest first in each lane, after freeing its slot: the
  // sink may send again, but must be done with `room` before it does.
  //   void sink.reply<kLane>(room, mark)   `mark` is the reply's
  //   void sink.returned<kLane>(room)      a one-way request, whose reply half says why
  // Returns how many. What the sink throws passes through; the rest comes with the next call.
  //
  // With Threads::kAny the slot of a reply is freed after the sink has had it, which is then told:
  //   void sink.released<kLane>(room)      what was in `room` is good until the next commit
  //
  // A sink that wants to know which replies are passed in a row has instead of reply() and
  // released()
  //   auto sink.replies<kLane>()           which lives as long, and has reply(room, mark),
  //                                        released(room) and passed(), the number of reply() calls
  template <Threads kThreads = Threads::kOne, class Sink>
  int reap(Sink&& sink) {
    const auto reap = [&]<Lane kLane>() {
      if (sent_.of<kLane>().awaited() == 0) return 0;
      return in_turn<kThreads, kLane>([&] { return reap_lane<kThreads, kLane>(sink); });
    };
    return reap.template operator()<Lane::kShort>() + reap.template operator()<Lane::kMedium>() +
           reap.template operator()<Lane::kLong>();
  }
  // Whether reap() would find a reply.
  bool has_reply() noexcept;

  // After an alert: passes all replies and all returned requests. (reap() finds a returned request
  // only if a reply follows it.)
  template <Threads kThreads = Threads::kOne, class Sink>
  int take_returned(Sink&& sink);
  // Whether there is a returned request; may say so too early.
  bool has_returned() const noexcept;

  // The mailbox has been closed, or its owner is dead.
  // pairs with: Mailbox::close()
  bool gone() const noexcept {
    return owner_dead_ || header_->closed.load(std::memory_order_seq_cst) != 0;
  }
  // The owner's process has died: as if it had closed the mailbox, but what it has read last it may
  // not have said, so that abandon() passes that, too.
  void owner_died() noexcept { owner_dead_ = true; }
  // Of a mailbox that is gone(): as take_returned(), and passes all other requests in flight, which
  // nobody has read, to
  //   void sink.undelivered<kLane>(room, mark)   `mark` is the request's
  template <Threads kThreads = Threads::kOne, class Sink>
  int abandon(Sink&& sink);

  // Of Threads::kAny: whether a sink has something of this outbox, which may not be closed then.
  bool busy() const noexcept { return busy_ != 0; }
  // Whether one of the functions above has left out a lane because of that, since the last
  // time this was asked.
  bool take_skipped() noexcept { return std::exchange(skipped_, false); }

  // Requests whose reply is still to come.
  std::uint32_t awaited() const noexcept {
    return sent_.shorts.awaited() + sent_.mediums.awaited() + sent_.longs.awaited();
  }
  // For who keeps a list of the outboxes with such requests: whether this one is in it.
  bool listed() const noexcept { return listed_; }
  void set_listed(bool listed) noexcept { listed_ = listed; }
  // Requests that await a reply in one lane, by slots, a bit each.
  std::uint64_t awaited_slots(std::uint32_t lane) const noexcept;
  // The slot of what reap() and the others pass on.
  template <Lane kLane>
  std::uint32_t slot_of(Room room) const noexcept {
    return Room::place(*room.slot);
  }
  // Requests in flight in one lane, as far as known here; at most window(kLane).
  template <Lane kLane>
  std::uint32_t in_flight() const noexcept {
    return sent_.of<kLane>().in_flight();
  }
  // Requests in flight, after having looked which one-way requests have been reported as read.
  template <Lane kLane>
  std::uint32_t unread() noexcept {
    sent_.of<kLane>().release_consumed(inbox_->slots<kLane>(), progress<kLane>());
    return in_flight<kLane>();
  }
  // Requests in flight in all lanes, as far as known.
  std::uint32_t in_flight() const noexcept {
    return in_flight<Lane::kShort>() + in_flight<Lane::kMedium>() + in_flight<Lane::kLong>();
  }

  // The number of the last request in a lane, as its head has it (request_number()), and in which
  // of the mailbox's inboxes it is.
  template <Lane kLane>
  std::uint64_t last_number() const noexcept {
    return request_number(make_head(sent_.of<kLane>().next_sequence() - 1, 0));
  }
  std::uint32_t inbox() const noexcept { return inbox_number_; }

  // What the mailbox's owner has published about itself; see Mailbox::owner_page().
  const std::byte* owner_page() const noexcept { return header_->owner_page; }

  // What the mailbox's owner was given about this sender; atomic_ref may change it later.
  std::byte* caller() noexcept { return inbox_->caller; }

  // Gives the inbox back, at any time: the owner reads first what was sent. The last call.
  void close() noexcept;

 private:
  // `inbox_number` has been claimed.
  Outbox(Region region, std::uint32_t inbox_number, Doorbell& bell, Fence fence);
  void introduce(std::span<const std::byte> caller) noexcept;

  // Makes the receiver poll this lane, unless it does.
  // pairs with: Attention::sweep() and Doorbell::about_to_sleep(), both through Fence::heavy()
  [[gnu::always_inline]] void announce(Lane lane) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // what light() is with assistance
    const std::uint64_t bit = assisted_bit_ << index(lane);
    if ((place_word_->load(std::memory_order_relaxed) & bit) == 0) [[unlikely]]
      return announce_to_idle(lane);
    bell_.notify_after_fence();
  }
  [[gnu::noinline]] void announce_to_idle(Lane lane) noexcept;

  template <Lane kLane>
  const Progress& progress() const noexcept {
    return inbox_->progress[index(kLane)];
  }
  // What `pass()` has passed on of a lane, unless that is another thread's turn.
  template <Threads kThreads, Lane kLane, class Pass>
  int in_turn(Pass&& pass) {
    if constexpr (kThreads == Threads::kOne) {
      return pass();
    } else {
      if ((busy_ >> index(kLane) & 1) != 0) {
        skipped_ = true;
        return 0;
      }
      const Turn turn(busy_, index(kLane));
      return pass();
    }
  }
  template <Threads kThreads, Lane kLane, class Sink>
  int reap_lane(Sink& sink);
  template <Threads kThreads, Lane kLane, class Sink>
  int take_returned_in(Sink& sink);
  template <Threads kThreads, Lane kLane, class Sink>
  int abandon_lane(Sink& sink);

  // Constant after construction.
  Region region_;
  MailboxHeader* header_;
  Inbox* inbox_;
  std::atomic<std::uint64_t>* place_word_;
  std::uint64_t assisted_bit_;  // of the first lane; 0: the fences are the senders'
  Doorbell& bell_;
  Fence fence_;
  std::uint32_t inbox_number_;
  // Owned by the bundle's thread, or guarded by its lock.
  Cursors<Producer> sent_;
  std::uint8_t busy_ = 0;  // lanes whose Turn it is, a bit each
  bool skipped_ = false;   // one of these was left out
  bool owner_dead_ = false;
  bool abandoned_ = false;  // abandon() has been called
  bool listed_ = false;
};

// The receiver's end.
class Mailbox {
 public:
  // Room for `inboxes` senders, at most kMaxInboxes. Memory is touched only as senders use it.
  Mailbox(std::uint32_t inboxes, Fence fence);

  Region::Address address() const noexcept { return region_.address(); }
  // One page-sized record that every Outbox can read; all zero at first. Its user writes it.
  std::byte* owner_page() noexcept { return header_->owner_page; }

  // Passes requests that have come to the sink, at most kBudget of each lane, in order within a
  // lane:
  //   Doorbell& sink.opened(inbox, caller)     once per sender, before its first message; the
  //                                            result wakes that sender and outlives the mailbox
  //   Mark sink.request<kLane>(inbox, room, mark)   the mark of the reply it has put into `room`
  //   Mark sink.one_way<kLane>(inbox, room, mark)   kNoReply; or the mark of what it has put into
  //                                            the reply half: then the request is returned
  // or, if it wants to know which are passed in a row, instead of these two
  //   auto sink.requests<kLane>(inbox)         which lives as long, and has request(room, mark) and
  //                                            one_way(room, mark)
  // and
  //   void sink.unread<kLane>(inbox, room, mark)    a reply of this mailbox, with that mark, which
  //                                            its sender has not read and never will
  //   void sink.closed(inbox)                  the sender has gone, and all it sent was passed on
  // An exception of the sink passes through after the message is finished with kNoReply.
  // Returns how many messages were passed. A sender that sleeps is woken after those that were
  // passed in a row; with Threads::kAny, after each.
  template <Threads kThreads = Threads::kOne, class Sink>
  int poll(Sink&& sink);

  // Whether no lane is active, so that poll() would do nothing: nothing has come for long
  // (shmem/attention.h says how long). Only then may a mailbox be left out of polls: senders tell
  // of a message only if their lane is not active.
  bool idle() const noexcept { return attention_.idle(); }

  // Whether poll() would find something. May say yes where nothing is; never no where something is.
  bool has_message() noexcept;

  // How many places are active, and polled: lanes of senders from which something came lately.
  std::size_t active() const noexcept { return attention_.active(); }

  // The process `pid`, which has died, has sent what is to be read and will not close its inboxes:
  // passes that to the sink, and frees them. What the process had begun to write and not committed
  // is nobody's. False: another thread is at one of them; call it again, as after what the sink
  // throws. Adds to `count` how many messages were passed.
  template <Threads kThreads = Threads::kOne, class Sink>
  [[nodiscard]] bool bury(std::int32_t pid, int& count, Sink&& sink);

  // The last call before destruction: senders take back what was not read. `sink.opened` as above.
  // To the other functions of the sink, which may not throw here, goes what is nobody's: requests
  // and replies of senders who have closed.
  template <class Sink>
  void close(Sink&& sink);

  // Where `slot`, which poll() is passing on, lies in its inbox.
  struct Position {
    std::uint32_t inbox;
    std::uint32_t lane;  // index()
    std::uint32_t slot;
  };
  Position position_of(const Slot& slot) const noexcept;

 private:
  struct Reader {
    bool open = false;         // its first message has come
    std::uint8_t busy = 0;     // places whose Turn it is, a bit each
    Doorbell* bell = nullptr;  // the sender's
    Cursors<Consumer> read;
  };
  struct Polled {
    std::uint32_t inbox;
    std::uint32_t which;  // a Lane, or kClosedPlace
  };
  static Polled polled(std::uint32_t place) noexcept {
    return {place / kPlacesPerInbox, place % kPlacesPerInbox};
  }

  template <Threads kThreads, class Sink>
  int visit(Polled place, Sink& sink);
  // Whether another thread has the turn of this place, or of one that it has to wait for.
  bool busy(Polled place) const noexcept;
  template <Threads kThreads, Lane kLane, class Sink>
  int drain_in_turn(std::uint32_t number, Sink& sink);
  template <Threads kThreads, Lane kLane, class Sink>
  int drain(std::uint32_t number, Sink& sink);
  template <Threads kThreads, Lane kLane>
  class Finisher;
  template <class Sink>
  void open(std::uint32_t number, Reader& reader, Sink& sink);
  template <Threads kThreads, class Sink>
  int hang_up(std::uint32_t number, Sink& sink);
  template <class Sink>
  void clear(std::uint32_t number, Sink& sink);
  template <Lane kLane, class Sink>
  int return_unread(std::uint32_t number, Sink& sink);
  bool has_message(Polled place) noexcept;
  // Whether all that the sender, which has closed, has sent was passed on.
  bool read_everything(const Inbox& inbox, const Reader& reader) const noexcept;
  template <Threads kThreads, class Sink>
  bool bury_inbox(std::uint32_t number, int& count, Sink& sink);
  static void close_for_dead(Inbox& inbox, const Reader& reader) noexcept;
  void publish_exactly() noexcept;

  // Constant after construction.
  Region region_;
  MailboxHeader* header_;
  Fence fence_;
  // Owned by the bundle's thread, or guarded by its lock.
  Owned<Reader[]> readers_;
  Attention<kMaxInboxes * kPlacesPerInbox, Polled> attention_;
};

}  // namespace shmem

#include "shmem/mailbox_poll.h"
