#pragma once

#include <cstdint>

#include "am/core/alerts.h"
#include "am/core/endpoint_threads.h"
#include "am/core/incoming.h"
#include "am/core/outgoing.h"
#include "am/core/returned_messages.h"
#include "am/core/tag_and_segment.h"
#include "am/core/translation_table.h"
#include "am/core/waits.h"
#include "am/message/handler_table.h"
#include "am/message/stats.h"
#include "am/observe/event.h"
#include "am/types/types.h"

namespace am {

class Endpoint;
class FarEndpoint;
class Trace;
struct UntypedRequest;

// What is behind an endpoint: parts with one job each, and what they share. The parts use one
// another through this record. A message's way through them:
//
//   request.h     Endpoint::request() finds the outbox of a translation and writes a slot there
//   outgoing.h    which translations have an outbox, and which of them await replies
//   shmem/        the slot, in the receiver's mailbox
//   incoming.h    the mailbox, and who sends there
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
  ReturnedMessages returned;
  Waits waits;
  Incoming incoming;
  Outgoing outgoing;
  Alerts alerts;
  Owned<FarEndpoint> far;  // nullptr: the job has one node
};

// The name of a handler in a trace.
TraceName traced_name(const EndpointParts& parts, Trace& trace, HandlerIndex handler) noexcept;

}  // namespace am
