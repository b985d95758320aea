#pragma once

#include <cstdint>
#include <span>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/message/handler.h"
#include "am/message/slot_format.h"
#include "am/observe/activity.h"
#include "am/route/router.h"

// From a message to its handler: the one way in for messages of this node (dispatch.cc) and of
// others (far/deliver.cc). And back to its sender, if it was of this node (am/core/returned.cc).

namespace am {

namespace detail {

// Finds the payload of a medium or long message as its handler will see it, a long one that has
// been written in this process's `segment`.
template <Kind kKind>
inline Status find_payload(const shmem::Half& half, std::byte* medium, std::span<std::byte> segment,
                           std::span<std::byte>& payload) {
  if constexpr (kKind == Kind::kMedium) {
    payload = {medium, packet::medium_bytes(half)};
    return payload.size() <= max_medium() ? Status::kDelivered : Status::kBadLength;
  } else {
    const packet::Placement place = packet::placement(half);
    const Extent extent{0, segment.size()};
    if (!extent.holds(place.offset, place.bytes)) [[unlikely]]  // damaged
      return Status::kBadLength;
    payload = segment.subspan(place.offset, place.bytes);
    return Status::kDelivered;
  }
}

}  // namespace detail

// Answers a request to handler 0, which is a get and has this shape (am/core/request.cc).
inline constexpr Shape kGetShape = make_shape(Role::kRequest, Kind::kMedium, 0);
[[gnu::cold]] Status serve_get(EndpointParts& parts, Delivery& delivery);

// Not inline, so that the handlers with types have the registers; what callers know is theirs.
template <class Access>
[[gnu::noinline]] void invoke_untyped(EndpointParts& parts, const HandlerEntry& entry,
                                      HandlerIndex handler, Shape shape, Delivery& delivery) {
  Bundle& bundle = *parts.bundle;
  Access::activity(bundle).enter_handler(entry.invoke, delivery.from.name.rank);
  const typename Access::Unlocked unlocked(bundle);
  entry.untyped(UntypedMessage(delivery, handler, shape), entry.context);
}

// Calls the handler and counts it, if the message is what it takes; else says why not.
//
// `granted`: a long message whose payload was written before it came, as its sender was allowed to:
// it is delivered, even to a handler that has been replaced since. `find_payload(payload)` ->
// Status finds the payload of a medium or long message as the handler will see it; called last.
template <Kind kKind, class Access, class FindPayload>
[[gnu::always_inline]] inline Status try_invoke(EndpointParts& parts, HandlerIndex handler,
                                                Shape shape, bool granted, Delivery& delivery,
                                                FindPayload find_payload) {
  const HandlerEntry* entry = &parts.handlers[handler];
  if (entry->shape != shape) [[unlikely]] {
    if (kKind == Kind::kLong && granted) entry = &parts.handlers.admitted(handler, shape);
    const bool is_get = handler == 0 && shape == kGetShape;
    if (!is_get && !takes(entry->shape, shape)) return mismatch(entry->shape);
    if (is_get || entry->shape == kAnyShape) {
      const Status status =
          kKind == Kind::kShort ? Status::kDelivered : find_payload(delivery.payload);
      if (status != Status::kDelivered) return status;
      if (is_get) return serve_get(parts, delivery);
      ++parts.stats[kKind].received(role_of(shape));
      // Nothing can be answered but a request.
      delivery.may_reply = role_of(shape) == Role::kRequest;
      invoke_untyped<Access>(parts, *entry, handler, shape, delivery);
      return Status::kDelivered;
    }
  }
  if constexpr (kKind != Kind::kShort) {
    const Status status = find_payload(delivery.payload);
    if (status != Status::kDelivered) [[unlikely]]
      return status;
  }
  ++parts.stats[kKind].received(role_of(shape));
  Bundle& bundle = *parts.bundle;
  Access::activity(bundle).enter_handler(entry->invoke, delivery.from.name.rank);
  const typename Access::Unlocked unlocked(bundle);
  delivery.reply = entry->invoke(delivery.endpoint, delivery.from, delivery.room, delivery.payload);
  return Status::kDelivered;
}

// Long payloads on one node: how they come to their place. The sender copies one into the
// receiver's segment, where that is mapped; into a segment elsewhere in the receiver's memory it
// goes by way of memory of its own (am/route/staging.h), from which the receiver copies it.
//
// Thread rule: the bundle's; a parallel one is locked.

// Copies the payload of the message in `half` to its place, `verdict.at` in `segment`, if it is
// admitted, and writes the words that say where. Throws Error if there is no memory for it.
void place_long(Bundle& bundle, shmem::Room room, shmem::Half& half, const Verdict& verdict,
                std::byte* segment, std::uint64_t offset, std::span<const std::byte> payload);
// At the receiver: copies a payload that has been staged to its place, which it finds.
[[gnu::cold]] Status take_staged(EndpointParts& parts, shmem::Room room,
                                 const packet::Placement& place, std::span<std::byte>& payload);
// Frees the payload of a long message that comes back and is not awaited any more.
void drop_staged(const Bundle& bundle, shmem::Room room, const shmem::Half& half) noexcept;
// Frees the payloads of everything sent to a receiver that has ended, which cannot free them
// itself.
void drop_staged_of(EndpointParts& parts, shmem::Outbox& box);

// Counts what the handler of a request has replied, if it has.
inline void count_reply(EndpointParts& parts, shmem::Mark mark) noexcept {
  if (mark != shmem::kNoReply) ++parts.stats[packet::ReplyMark::of(mark).kind].replies_sent;
}

// What the mailbox passes its messages to.
class Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller);
  void closed(std::uint32_t inbox);
  template <shmem::Lane kLane>
  void unread(std::uint32_t inbox, shmem::Room room, shmem::Mark mark) {
    unread_reply(parts().incoming.sender(inbox), room, packet::ReplyMark::of(mark));
  }

  // Delivers any message, and counts it; the result is the mark of its reply.
  template <class Access, Role kRole, shmem::Lane kLane>
  shmem::Mark serve(const Correspondent& from, shmem::Room room, shmem::Mark mark);

 protected:
  // The parts are reached from the endpoint, which handlers get: they are at a fixed distance from
  // it.
  EndpointParts& parts() const noexcept { return endpoint_.parts(); }
  Endpoint& endpoint_;

 private:
  // The unusual ends of a message, out of the way of the usual one.
  [[gnu::cold]] shmem::Mark refuse(const Delivery& delivery, Status why);
  [[gnu::cold]] void rejected_reply(const Correspondent& from, shmem::Room room,
                                    packet::RequestMark fields);
  void unread_reply(const Correspondent& from, shmem::Room room, packet::ReplyMark fields);
  void take_back(Returned& reply, const Correspondent& from, Status why);
};

// What comes back of one translation's requests.
class ReplyDispatch {
 public:
  ReplyDispatch(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint), near_(*endpoint.parts().translations[to].near), to_(to) {}
  template <shmem::Lane kLane>
  void returned(shmem::Room room) {
    take_back(packet::kind_of(kLane), room, Role::kOneWay);
  }
  // The endpoint there has ended without having read this request, or its process has died.
  template <shmem::Lane kLane>
  void undelivered(shmem::Room room, shmem::Mark mark) {
    if (packet::RequestMark::of(mark).form != packet::Form::kOrdinary) return;
    const bool one_way = (mark & packet::kOneWay) != 0;
    const bool dead = endpoint_.bundle().router().is_dead(near_.peer.name.rank);
    packet::put_status(room, dead ? Status::kUnreachable : Status::kBadEndpoint);
    settle<kLane>(room);
    take_back(packet::kind_of(kLane), room, one_way ? Role::kOneWay : Role::kRequest);
  }

  // A reply that cannot be delivered.
  struct Rejected {
    packet::ReplyMark fields;
    Status why = Status::kDelivered;
  };
  // Delivers any reply, and counts it; or says why not.
  template <class Access, shmem::Lane kLane>
  Rejected take(shmem::Room room, shmem::Mark mark);
  // Sends it back in its slot, which is free.
  void give_back(shmem::Lane lane, const Rejected& reply, shmem::Room room) {
    if (reply.why != Status::kDelivered) [[unlikely]]
      reject(lane, reply, room);
  }

 protected:
  EndpointParts& parts() const noexcept { return endpoint_.parts(); }
  Endpoint& endpoint_;
  const Near& near_;
  const std::uint32_t to_;

 private:
  // Whether the endpoint's tag still admits the reply to the request in `room`.
  template <shmem::Lane kLane>
  bool settle(shmem::Room room) {
    if (near_.retagged.empty()) [[likely]]
      return true;
    return parts().outgoing.settle_tag(to_, shmem::index(kLane), near_.box->slot_of<kLane>(room));
  }
  template <class Access, Kind kKind>
  Status deliver(shmem::Lane lane, shmem::Room room, packet::ReplyMark fields, bool tag_admits);
  [[gnu::cold]] void reject(shmem::Lane lane, const Rejected& reply, shmem::Room room);
  void reject_get(shmem::Room room, Status why);
  template <shmem::Lane kLane>
  void reject_in(packet::ReplyMark fields, shmem::Room room, Status why);
  [[gnu::cold]] void take_back(Kind kind, shmem::Room room, Role role);
};

}  // namespace am
