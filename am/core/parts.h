#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "am/core/endpoint_threads.h"
#include "am/core/outgoing.h"
#include "am/core/translation_table.h"
#include "am/message/admission.h"
#include "am/message/correspondent.h"
#include "am/message/handler.h"
#include "am/message/handler_table.h"
#include "am/message/returned.h"
#include "am/message/stats.h"
#include "am/observe/event.h"
#include "am/observe/observers.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "shmem/doorbell.h"
#include "shmem/mailbox.h"

namespace am {

class Endpoint;
class EndpointParts;
class FarEndpoint;
class Trace;
struct UntypedRequest;

// The part of an endpoint that detects events without a reply: an endpoint it sends to has ended, a
// process has died, a one-way message has come back. The process that causes such an event raises
// an alert in the doorbell, and the next poll searches for the cause. Nothing else makes it search:
// a process that dies raises an alert only in a job that goes on without its dead.
// (Outgoing::try_open() asks once more, when it connects.)
//
// Thread rule: the bundle's; a parallel one is locked. While a handler runs, others come in.
class Alerts {
 public:
  Alerts(EndpointParts& parts, const shmem::Doorbell& bell) noexcept
      : parts_(parts), bell_(bell), scanned_(bell.alerts()), seen_(scanned_) {}

  // Whether attend() has something to search for. One load and a comparison.
  bool pending() const noexcept { return bell_.alerts() != seen_; }
  // Finds what has ended and what has come back, and handles that; returns how many messages.
  template <class Access>
  int attend();
  // Whether attend() would find something. (An outbox that another thread is using is skipped, and
  // searched by a later call.)
  bool would_find() noexcept;

  // Makes the next poll search, although no alert was raised.
  void look_again() noexcept { seen_ = kNever; }
  // The endpoint at `to` has ended before it knew of this one, so it raises no alert.
  void add_gone(std::uint32_t to);
  // Index `to` is unmapped.
  void forget(std::uint32_t to) noexcept;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  template <class Access>
  int search(std::uint64_t alerts);
  template <class Access>
  int bury_dead();  // reads what the dead have sent, and frees what they had here
  void find_gone() noexcept;
  bool has_unburied() const noexcept;
  bool is_settled() const noexcept;  // no more checks for the gone and the dead are due

  EndpointParts& parts_;
  const shmem::Doorbell& bell_;      // of this process
  std::vector<std::uint32_t> gone_;  // indices whose endpoint has ended
  std::uint64_t scanned_;            // alerts of the doorbell that were searched for
  // The number of alerts at which pending() is false; kNever: search in every poll, as there are
  // gone_ endpoints, or requests to the dead.
  std::uint64_t seen_;
  std::uint32_t buried_ = 0;  // of Router::deaths()
  bool attending_ = false;    // a thread of several is in attend()
};

// The part of an endpoint that receives requests from endpoints of this node: its mailbox, with
// what is known of the senders that have an inbox there. Where they go from here is in
// am/core/rows.h and am/core/dispatch.h.
//
// Thread rule: the bundle's; a parallel one is locked.
class Incoming {
 public:
  Incoming(EndpointParts& parts, std::uint32_t inboxes, const shmem::Fence& fence)
      : parts_(parts), mailbox_(inboxes, fence), correspondents_(inboxes) {}

  shmem::Mailbox& mailbox() noexcept { return mailbox_; }
  const shmem::Mailbox& mailbox() const noexcept { return mailbox_; }
  Correspondent& sender(std::uint32_t inbox) noexcept { return correspondents_[inbox]; }
  // What senders read of this endpoint.
  PublishedAdmission& admission() noexcept {
    return *reinterpret_cast<PublishedAdmission*>(mailbox_.owner_page());
  }

  // Passes the requests that have come to their handlers, as of `endpoint`, whose part this is;
  // returns how many.
  template <class Access>
  int poll(Endpoint& endpoint);
  // The tag, or the kind of bundle, is another now.
  void tag_changed() noexcept;
  void suit_bundle();
  void suit_bundle(Correspondent& from) const;
  // Returns what has not been handled: the endpoint ends.
  void close();

  // For a traced endpoint: the flow of the request in `room`, which `from` has sent.
  TraceFlow received_flow(const Correspondent& from, shmem::Room room) const noexcept;

 private:
  EndpointParts& parts_;
  shmem::Mailbox mailbox_;
  std::vector<Correspondent> correspondents_;  // by inbox
};

// What an endpoint lets in: messages that have its tag, and long payloads that fit its segment. A
// record that Endpoint::set_tag() and set_segment() write.
//
// Thread rule: the bundle's; tag() may be read by any thread.
struct TagAndSegment {
  Tag tag() const noexcept { return own_tag.load(std::memory_order_relaxed); }
  // Whether a message that was sent with this tag is taken.
  bool admits(Tag with) const noexcept { return tag_admits(tag(), with); }
  // Whether a reply is taken to a request that was made when the tag was `former`.
  bool admits_reply(Tag former) const noexcept { return former == kTagNone || admits(former); }

  // What Correspondent::barrier is to be; kBarred sends every message through dispatch.cc. Of
  // requests: unless the sender's tag is admitted. Of replies: while some are to come to requests
  // that were made with another tag. Of a traced endpoint: always.
  Shape request_barrier(bool admitted) const noexcept {
    return admitted && !traced ? Shape{0} : kBarred;
  }
  Shape reply_barrier(bool retagged) const noexcept {
    return !retagged && !traced ? kReplyShape : kBarred;
  }

  const bool traced;  // the endpoint takes no short way (am/core/traced.h)
  // Endpoint::set_tag() changes it, with its copies in PublishedAdmission and TagEpochs.
  std::atomic<Tag> own_tag{kTagNone};  // no other memory is published by it
  std::span<std::byte> segment{};
  Extent extent{};  // the segment as other processes know it
};

// What is behind an endpoint: parts with one job each, and what they share. The parts use one
// another through this record. A message's way through them:
//
//   request.h     Endpoint::request() finds the outbox of a translation and writes a slot there
//   outgoing.h    which translations have an outbox, and which of them await replies
//   shmem/        the slot, in the receiver's mailbox
//   Incoming      the mailbox, and who sends there
//   rows.h        requests of one sender, one after another, to their handlers; and replies
//   dispatch.h    the same for all that is unusual about a message
//   far/far.h     the same for other nodes
//
// Thread rule: the bundle's thread or, if it is parallel, the thread that has locked it.
class EndpointParts {
 public:
  EndpointParts(Endpoint& of, Bundle& in, std::uint32_t table_size, std::uint32_t inboxes);
  ~EndpointParts();
  EndpointParts(const EndpointParts&) = delete;
  EndpointParts& operator=(const EndpointParts&) = delete;

  // Whether poll() would do nothing: no reply is due, and nothing has come for long (only
  // Mailbox::idle() knows this).
  bool idle() const noexcept {
    return !alerts.pending() && outgoing.awaits_nothing() && incoming.mailbox().idle();
  }
  // Passes to handlers what has come from this node; returns how much (am/core/rows.h).
  template <class Access>
  int poll();
  bool has_message() noexcept;  // whether poll() has something to do
  bool held() const noexcept { return threads.holds != 0; }

  // Sends the request that was written into `room`, and counts it. (The last requests of flush()
  // and unmap() come by here, too, and take their count back; a payload's size is not to be read
  // from their slots.)
  template <Kind kKind>
  void send(std::uint32_t to, shmem::Outbox& box, shmem::Room room, shmem::Mark mark, Role role);
  // Sends one by words through `box` (am/core/untyped_send.h). False: there is no credit.
  template <Kind kKind>
  [[nodiscard]] bool try_send_words(std::uint32_t to, shmem::Outbox& box,
                                    const UntypedRequest& request);
  bool is_far(std::uint32_t to) const noexcept;

  // --- Calls that wait: for what, and where they may not. Without the lock of a parallel bundle.

  // Error in a handler, which may not send requests; and where nothing may wait, which a callback
  // may not, either.
  void refuse_in_handler(std::uint32_t to, Call call) const;
  void refuse_waiting(std::uint32_t to, Call call) const;
  // Waits until `condition()`, on behalf of `call`. `needs` is what reports show; nothing is
  // counted. The endpoint at `to` may belong to this thread, so all its bundles are polled.
  void wait_until(std::uint32_t to, Call call, const char* needs, FunctionRef<bool()> condition);
  // Waits in whichever bundle the endpoint is in.
  void wait_in_bundle(FunctionRef<bool()> condition, FunctionRef<Reason()> explain);
  // A first attempt to send has failed: counts that, and tries again, polling, until it is sent.
  // (It may also have lacked an inbox, or an introduction.) Error where nothing may wait.
  void wait_for_credit_of(std::uint32_t to, Call call, FunctionRef<bool()> attempt);
  // The same, not inline, so that a request that has its credit is: a call of it costs more than
  // the request. Like Endpoint::try_far(), it gets copies: what another function may find by its
  // address is in memory, and each store to memory delays the request. What waits is no template,
  // as every kind of message would be compiled with its own.
  template <class Attempt>
  [[gnu::noinline]] void wait_for_credit(std::uint32_t to, Call call, Attempt attempt) {
    wait_for_credit_of(to, call, attempt);
  }
  Reason reason(std::uint32_t to, Call call, const char* needs) const noexcept;

  // Counts one of its own messages that comes back, and passes it to on_returned (AM-II's handler
  // 0), a parallel bundle unlocked; without one ends the job with sentence() of
  // am/message/returned.h, before which Router::fatal() puts the rank. Every message that comes
  // back passes here.
  void deliver_returned(const Returned& message);

  void leave_bundle();  // no handler runs from here on
  void suit_bundle();   // the endpoint is in a bundle of the other kind now

  Endpoint& endpoint;  // whose parts these are
  Name name;           // constant after construction
  // Owned by the bundle's thread, or guarded by its lock; what else they say.
  InBundle bundle;
  EndpointThreads threads;
  Stats stats;
  bool requests_next = false;  // the last poll handled replies only
  bool prepared = false;       // a PreparedMedium has room that a request would take
  TagAndSegment admission;
  HandlerTable handlers;
  TranslationTable translations;
  Function<void(const Returned&)> on_returned;
  Incoming incoming;
  Outgoing outgoing;
  Alerts alerts;
  Owned<FarEndpoint> far;  // nullptr: the job has one node
};

// Shows a request to handler 0, which is a get, as what it was to the program (am/core/request.cc).
void show_as_get(Returned& returned) noexcept;

TraceName traced_name(const EndpointParts& parts, Trace& trace, HandlerIndex handler) noexcept;

}  // namespace am
