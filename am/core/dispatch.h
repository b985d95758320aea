#pragma once

#include <cstdint>
#include <span>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/message/handler.h"
#include "am/message/slot_format.h"
#include "am/route/activity.h"

// From a message to its handler: the one way in for messages of this node (dispatch.cc) and of
// others (far_deliver.cc). And back to its sender, if it was of this node (returned.cc).

namespace am {

// Calls the handler and counts it, if the message is what it takes; else says why not.
//
// `granted`: a long message whose payload was written before it came, as its sender was allowed to:
// it is delivered, even to a handler that has been replaced since. `find_payload(payload)` ->
// Status finds the payload of a medium or long message as the handler shall see it; asked last.
template <Kind kKind, class FindPayload>
[[gnu::always_inline]] inline Status Endpoint::try_invoke(HandlerIndex handler, Shape shape,
                                                          bool granted, Delivery& delivery,
                                                          FindPayload find_payload) {
  const HandlerEntry* entry = &handlers_[handler];
  if (entry->shape != shape) [[unlikely]] {
    if (kKind == Kind::kLong && granted) entry = &admitted_entry(handler, shape);
    if (entry->shape != shape) return mismatch(entry->shape);
  }
  if constexpr (kKind != Kind::kShort) {
    const Status status = find_payload(delivery.payload);
    if (status != Status::kDelivered) [[unlikely]]
      return status;
  }
  ++stats_[kKind].received(role_of(shape));
  bundle_->activity().enter_handler(entry->invoke, delivery.from.name.rank);
  entry->invoke(delivery);
  return Status::kDelivered;
}

// What the mailbox passes its messages to.
class Endpoint::Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller);
  void closed(std::uint32_t inbox);
  template <shmem::Lane kLane>
  shmem::Mark request(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  shmem::Mark one_way(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  void unread(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark) {
    unread_reply(endpoint_.correspondents_[inbox], room, packet::ReplyMark::of(mark));
  }

 private:
  template <Role kRole, shmem::Lane kLane>
  shmem::Mark serve(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  // The unusual ends of a message, out of the way of the usual one.
  [[gnu::cold]] shmem::Mark refuse(const Delivery& delivery, Status why);
  [[gnu::cold]] void rejected_reply(const Correspondent& from, const shmem::Room& room,
                                    packet::RequestMark fields);
  void unread_reply(const Correspondent& from, const shmem::Room& room, packet::ReplyMark fields);
  void take_back(Returned& reply, const Correspondent& from, Status why);

  Endpoint& endpoint_;
};

// What comes back of one translation's requests.
class Endpoint::ReplyDispatch {
 public:
  ReplyDispatch(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint), near_(*endpoint.translations_[to].near), to_(to) {}
  template <shmem::Lane kLane>
  void reply(const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  void returned(const shmem::Room& room) {
    take_back(packet::kind_of(kLane), room, Role::kOneWay);
  }
  // The endpoint there has ended without having read this request.
  template <shmem::Lane kLane>
  void undelivered(const shmem::Room& room, shmem::Mark mark) {
    if (packet::RequestMark::of(mark).form != packet::Form::kOrdinary) return;
    const bool one_way = (mark & packet::kOneWay) != 0;
    packet::put_status(room, Status::kBadEndpoint);
    settle<kLane>(room);
    take_back(packet::kind_of(kLane), room, one_way ? Role::kOneWay : Role::kRequest);
  }

 private:
  // Whether the endpoint's tag still admits the reply to the request in `room`.
  template <shmem::Lane kLane>
  bool settle(const shmem::Room& room) {
    if (near_.retagged.empty()) [[likely]]
      return true;
    return endpoint_.settle_tag(to_, shmem::index(kLane), near_.box->slot_of<kLane>(room));
  }
  template <shmem::Lane kLane, Kind kKind>
  void deliver(const shmem::Room& room, packet::ReplyMark fields, bool tag_admits);
  [[gnu::cold]] void reject(shmem::Lane lane, packet::ReplyMark fields, const shmem::Room& room,
                            Status why);
  template <shmem::Lane kLane>
  void reject_in(packet::ReplyMark fields, const shmem::Room& room, Status why);
  [[gnu::cold]] void take_back(Kind kind, const shmem::Room& room, Role role);

  Endpoint& endpoint_;
  const Near& near_;
  const std::uint32_t to_;
};

}  // namespace am
