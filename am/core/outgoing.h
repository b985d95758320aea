#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "am/core/translation_table.h"
#include "am/message/admission.h"
#include "am/observe/event.h"
#include "am/table/sparse_table.h"
#include "am/types/types.h"
#include "shmem/mailbox.h"

namespace am {

class Endpoint;
class EndpointParts;
struct UntypedRequest;

// The part of an endpoint that sends requests to endpoints of this node, and takes their replies:
// an outbox for each translation that has been used, which counts the credits (shmem/mailbox.h).
// Those of other nodes are in am/core/far.
//
// The direct route: the sender writes into the outbox itself, without lock or trace. Parallel
// bundles and traced endpoints do not have it; they send through try_send().
//
// Thread rule: the bundle's; a parallel one is locked, but for direct().
class Outgoing {
 public:
  Outgoing(EndpointParts& parts, std::uint32_t translations)
      : parts_(parts), boxes_(translations) {}

  // The outbox of `to` for the direct route; nullptr: there is no direct route, or `to` is not
  // connected.
  shmem::Outbox* direct(std::uint32_t to) const noexcept {
    return to < direct_.size() ? direct_[to] : nullptr;
  }
  // The outbox of `to`, connected at its first use. nullptr: use try_send() instead, as `to` is on
  // another node, its mailbox has no free inbox now, or there is no direct route. Throws if `to` is
  // not mapped.
  shmem::Outbox* box_for(std::uint32_t to, Call call) {
    if (shmem::Outbox* const box = direct(to)) [[likely]]
      return box;
    return connect(to, call);
  }
  // The outbox of `to`, if it is connected.
  shmem::Outbox* box_at(std::uint32_t to) const noexcept {
    return to < boxes_.size() ? boxes_[to] : nullptr;
  }
  // The indices of those that are connected.
  const std::vector<std::uint32_t>& connected() const noexcept { return connected_; }

  // Sends a request the long way: to another node, in a parallel bundle or of a traced endpoint.
  // False: there is no credit or no room now. `released`: see FarEndpoint::try_send().
  [[nodiscard]] bool try_send(std::uint32_t to, const UntypedRequest& request, Call call,
                              bool* released);
  // Sends one through `box`. False: there is no credit.
  [[nodiscard]] bool try_send_near(std::uint32_t to, shmem::Outbox& box,
                                   const UntypedRequest& request);
  // Writes the payload of a long request, if it is admitted, and the words in `room` that say
  // where.
  void write_long(std::uint32_t to, shmem::Room room, const LongRequest& message,
                  std::span<const std::byte> payload);
  // A last request of that kind, if one-way requests are in flight: its answer says that all before
  // it were read. False: there is no credit for it.
  template <Kind kKind>
  [[nodiscard]] bool try_farewell(std::uint32_t to);
  // Requests to `to` of one kind in flight.
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const noexcept;

  // `to` has replies to come now.
  void await(std::uint32_t to);
  bool awaits_nothing() const noexcept { return awaiting_.empty(); }
  bool has_reply() const noexcept;
  // Passes the replies that have come to their handlers, as of `endpoint`, whose part this is;
  // returns how many.
  template <class Access>
  int reap(Endpoint& endpoint);

  // The tag was `former`: remembers with which tag the requests were made whose replies are to
  // come.
  void retag(std::uint32_t to, Tag former);
  // The request in that slot has been answered. Whether its reply may be delivered.
  bool settle_tag(std::uint32_t to, std::uint32_t lane, std::uint32_t slot);
  // What the endpoint at `to` reads of this one.
  PublishedAdmission& admission_at(std::uint32_t to) noexcept;

  // The size of the translation table, and the kind of bundle, are others now.
  void resize(std::uint32_t translations) { boxes_.resize(translations); }
  void suit_bundle() noexcept;
  // In a forked child only: elsewhere connect() would connect anew what direct() does not find.
  void forbid_direct() noexcept { direct_ = {}; }
  // Gives the inbox at `to` back, whatever is in flight.
  void disconnect(std::uint32_t to) noexcept;
  void close() noexcept;  // all of them; the endpoint ends

  // For a traced endpoint: the flow of the last request of that kind to `to`, and of the request
  // whose reply is in `room`.
  TraceFlow sent_flow(std::uint32_t to, Kind kind) const noexcept;
  TraceFlow answered_flow(std::uint32_t to, shmem::Lane lane, shmem::Room room) const noexcept;

 private:
  shmem::Outbox* connect(std::uint32_t to, Call call);
  shmem::Outbox* connect_near(std::uint32_t to, Call call);
  Owned<shmem::Outbox> try_open(const Translation& to);
  bool try_send_locked(std::uint32_t to, const UntypedRequest& request, Call call, bool* released);
  void publish_retagged(std::uint32_t to);
  void drop_awaiting(std::size_t i) noexcept;

  EndpointParts& parts_;
  SparseTable<shmem::Outbox*> boxes_;     // by translation index; nullptr: not connected
  std::span<shmem::Outbox*> direct_;      // outboxes of the direct route; empty if there is none
  std::vector<std::uint32_t> connected_;  // the indices of those that are
  std::vector<std::uint32_t> awaiting_;   // ... and of those with replies to come
};

}  // namespace am
