#pragma once

#include <cstdint>
#include <vector>

#include "am/message/admission.h"
#include "am/message/correspondent.h"
#include "am/observe/event.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

namespace am {

class Endpoint;
class EndpointParts;

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
  // The sender of that inbox.
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

}  // namespace am
