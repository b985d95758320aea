#include "am/core/dispatch.h"

#include <string>
#include <tuple>

#include "am/core/far/far.h"
#include "am/core/traced.h"
#include "am/message/correspondent.h"
#include "am/route/router.h"

namespace am {
namespace {

// Why the message in `half` shall not be delivered, whatever it is. `tag_admits` it, or not: a long
// one that was written has been judged by who sent it.
template <Kind kKind>
inline Status refusal(const shmem::Half& half, bool tag_admits) noexcept {
  if constexpr (kKind == Kind::kLong) {
    const packet::Placement place = packet::placement(half);
    if (place.written) [[likely]]
      return Status::kDelivered;
    if (place.staged) return tag_admits ? Status::kDelivered : Status::kBadTag;
    return place.status == 0 ? Status::kBadLength : static_cast<Status>(place.status);
  } else {
    return tag_admits ? Status::kDelivered : Status::kBadTag;
  }
}

// A message of this node, whose bytes before the arguments are in `half`.
template <Role kRole, Kind kKind, class Access>
[[gnu::always_inline]] inline Status try_deliver(EndpointParts& parts, HandlerIndex handler,
                                                 std::uint32_t words, bool tag_admits,
                                                 const shmem::Half& half, Delivery& delivery) {
  const Status status = refusal<kKind>(half, tag_admits);
  if (status != Status::kDelivered) [[unlikely]]
    return status;
  const bool written = kKind == Kind::kLong && packet::placement(half).written;
  return try_invoke<kKind, Access>(
      parts, handler, make_shape(kRole, kKind, words), written, delivery,
      [&](std::span<std::byte>& payload) {
        if (kKind == Kind::kLong && !written) [[unlikely]] {
          return take_staged(parts, delivery.room, packet::placement(half), payload);
        }
        const Router& router = parts.bundle->router();
        std::byte* medium = nullptr;
        if constexpr (kKind == Kind::kMedium) {
          medium = kRole == Role::kReply ? delivery.room.reply_payload()
                                         : delivery.room.request_payload();
        }
        return detail::find_payload<kKind>(half, medium, {router.segment(), router.segment_bytes()},
                                           payload);
      });
}

}  // namespace

shmem::Doorbell& Dispatch::opened(std::uint32_t inbox, std::span<const std::byte> caller) {
  const auto& record = *reinterpret_cast<const Caller*>(caller.data());
  const Router& router = parts().bundle->router();
  if (caller.size() != sizeof(Caller) || record.name.rank >= router.size()) {
    router.fatal("poll: a message came from an endpoint that calls itself one of rank " +
                 std::to_string(record.name.rank) + ", but the job has " +
                 std::to_string(router.size()) + " processes; its memory is damaged");
  }
  const Peer& peer = router.peer(record.name.rank);
  Correspondent& from = parts().incoming.sender(inbox);
  const bool admitted = parts().admission.admits(record.tag);
  from = {record.name,
          record.tag,
          admitted,
          &record.admission,
          peer.segment,
          {},
          parts().admission.request_barrier(admitted)};
  parts().incoming.suit_bundle(from);
  return peer.header->bell;
}

void Dispatch::closed(std::uint32_t inbox) { parts().incoming.sender(inbox) = {}; }

template <class Access, Role kRole, shmem::Lane kLane>
shmem::Mark Dispatch::serve(const Correspondent& from, shmem::Room room, shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const auto fields = packet::RequestMark::of(mark);
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_, from, room, {}};
  if (fields.form != packet::Form::kOrdinary) [[unlikely]] {
    if constexpr (kRole == Role::kOneWay) rejected_reply(from, room, fields);  // else a farewell
    return shmem::kNoReply;
  }
  TracedHandler traced(parts());
  if (traced) [[unlikely]] {
    traced.begin(kRole, fields.handler, from.name.rank, parts().incoming.received_flow(from, room));
  }
  const Status status = try_deliver<kRole, kKind, Access>(parts(), fields.handler, fields.words,
                                                          from.admitted, half, delivery);
  if (traced) [[unlikely]]
    traced.end(status, delivery);
  if (status != Status::kDelivered) [[unlikely]] {
    // Its sender drops it, too, if it is still there.
    if constexpr (kKind == Kind::kLong) drop_staged(*parts().bundle, room, half);
    return refuse(delivery, status);
  }
  if constexpr (kRole == Role::kOneWay) return shmem::kNoReply;
  count_reply(parts(), delivery.reply);
  return delivery.reply;
}

template <class Access, shmem::Lane kLane>
ReplyDispatch::Rejected ReplyDispatch::take(shmem::Room room, shmem::Mark mark) {
  const auto fields = packet::ReplyMark::of(mark);
  const bool tag_admits = settle<kLane>(room);
  if (fields.handler == 0) [[unlikely]] {  // an empty reply, or a request that is returned
    if (mark == packet::ReplyMark::kReturned) {
      take_back(packet::kind_of(kLane), room, Role::kRequest);
    }
    return {fields, Status::kDelivered};
  }
  switch (fields.kind) {
    case Kind::kShort:
      return {fields, deliver<Access, Kind::kShort>(kLane, room, fields, tag_admits)};
    case Kind::kMedium:
      return {fields, deliver<Access, Kind::kMedium>(kLane, room, fields, tag_admits)};
    case Kind::kLong: break;
  }
  return {fields, deliver<Access, Kind::kLong>(kLane, room, fields, tag_admits)};
}

template <class Access, Kind kKind>
inline Status ReplyDispatch::deliver(shmem::Lane lane, shmem::Room room, packet::ReplyMark fields,
                                     bool tag_admits) {
  Delivery delivery{endpoint_, near_.peer, room, {}};
  TracedHandler traced(parts());
  if (traced) [[unlikely]] {
    traced.begin(Role::kReply, fields.handler, near_.peer.name.rank,
                 reply_of(parts().outgoing.answered_flow(to_, lane, room)));
  }
  const Status status = try_deliver<Role::kReply, kKind, Access>(
      parts(), fields.handler, fields.words, tag_admits, room.slot->reply, delivery);
  if (traced) [[unlikely]]
    traced.end(status, delivery);
  return status;
}

// For am/core/rows.h: that these are made here.
template <class Access, shmem::Lane... kLanes>
constexpr auto made_of() noexcept {
  return std::tuple(&Dispatch::serve<Access, Role::kRequest, kLanes>...,
                    &Dispatch::serve<Access, Role::kOneWay, kLanes>...,
                    &ReplyDispatch::take<Access, kLanes>...);
}
template <class Access>
constexpr auto made =
    made_of<Access, shmem::Lane::kShort, shmem::Lane::kMedium, shmem::Lane::kLong>();
[[gnu::used]] const auto made_here = std::tuple(made<OneThread>, made<AnyThread>);

}  // namespace am
