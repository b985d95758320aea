// Handler 0: what happens to messages that come back.

#include <algorithm>
#include <cstring>

#include "am/core/dispatch.h"
#include "am/route/router.h"

namespace am {

namespace {

// In the extension's reply half of a message that returns a rejected reply.
struct Rejection {
  Status status;
  Kind kind;  // the reply's; the lane is that of the request
};

// A message as it comes back to its sender. What it says of its own size is not to be trusted.
Returned contents(const shmem::Half& half, const std::byte* arguments, const std::byte* payload,
                  Kind kind, HandlerIndex handler, std::uint32_t words) {
  Returned returned{};
  returned.kind = kind;
  returned.handler = handler;
  returned.arguments = {arguments, std::min(words * packet::kWord, kMaxArgumentBytes)};
  if (kind == Kind::kMedium) {
    returned.payload = {payload, std::min<std::uint64_t>(packet::medium_bytes(half), max_medium())};
  }
  if (kind == Kind::kLong) {
    returned.segment_offset = packet::placement(half).offset;
    returned.segment_bytes = packet::placement(half).bytes;
  }
  return returned;
}

}  // namespace

// Leaves in the reply's place why a request cannot be delivered.
shmem::Mark Dispatch::refuse(const Delivery& delivery, Status why) {
  ++parts().stats.returned_by_us;
  packet::put_status(delivery.room, why);
  return packet::ReplyMark::kReturned;
}

void Dispatch::take_back(Returned& reply, const Correspondent& from, Status why) {
  reply.status = why;
  reply.role = Role::kReply;
  reply.destination = from.name.rank;
  parts().deliver_returned(reply);
}

// One of our own replies could not be delivered; ReplyDispatch::reject() has made this message.
void Dispatch::rejected_reply(const Correspondent& from, shmem::Room room,
                              packet::RequestMark fields) {
  Rejection rejection;
  std::memcpy(&rejection, room.extension().reply, sizeof rejection);
  if (static_cast<int>(rejection.kind) >= kKinds) return;
  Returned reply =
      contents(room.slot->request, packet::request_arguments(room, rejection.kind, fields.words),
               room.reply_payload(), rejection.kind, fields.handler, fields.words);
  take_back(reply, from, rejection.status);
}

// One of our own replies was not read by the requester, which has ended.
void Dispatch::unread_reply(const Correspondent& from, shmem::Room room, packet::ReplyMark fields) {
  if (fields.handler == 0) return;  // an empty one, or a request that was returned
  Returned reply =
      contents(room.slot->reply, packet::reply_arguments(room, fields.kind, fields.words),
               room.reply_payload(), fields.kind, fields.handler, fields.words);
  if (reply.kind == Kind::kLong) {
    drop_staged(*parts().bundle, room, room.slot->reply);
    // The answer to a get is nobody's here.
    const std::uint64_t head = room.slot->request.head.load(std::memory_order_relaxed);
    if (packet::RequestMark::of(shmem::mark_of(head)).handler == 0) return;
    const auto [inbox, lane, slot] = parts().incoming.mailbox().position_of(*room.slot);
    reply.segment_offset = from.reply_offsets[lane][slot];
  }
  take_back(reply, from, Status::kBadEndpoint);
}

void ReplyDispatch::reject(shmem::Lane lane, const Rejected& reply, shmem::Room room) {
  const auto& [fields, why] = reply;
  const std::uint64_t head = room.slot->request.head.load(std::memory_order_relaxed);
  if (fields.kind == Kind::kLong && packet::RequestMark::of(shmem::mark_of(head)).handler == 0) {
    return reject_get(room, why);
  }
  ++parts().stats.returned_by_us;
  switch (lane) {
    case shmem::Lane::kShort: return reject_in<shmem::Lane::kShort>(fields, room, why);
    case shmem::Lane::kMedium: return reject_in<shmem::Lane::kMedium>(fields, room, why);
    case shmem::Lane::kLong: return reject_in<shmem::Lane::kLong>(fields, room, why);
  }
}

// The answer to a get, which the program there knows nothing of: the get itself comes back, here.
void ReplyDispatch::reject_get(shmem::Room room, Status why) {
  drop_staged(*parts().bundle, room, room.slot->reply);
  Returned get = contents(room.slot->request, packet::request_arguments(room, Kind::kMedium, 0),
                          room.request_payload(), Kind::kMedium, 0, 0);
  get.status = why;
  get.role = Role::kRequest;
  get.destination = near_.peer.name.rank;
  parts().deliver_returned(get);
}

// Sends the reply in `room` back to the replier, as a one-way request. There is room: the slot of
// this very reply has just been freed. So it goes in the lane of the request, whatever its own kind
// is, and may go in the same slot.
template <shmem::Lane kLane>
void ReplyDispatch::reject_in(packet::ReplyMark fields, shmem::Room room, Status why) {
  shmem::Outbox& box = *parts().outgoing.box_at(to_);
  shmem::Room back;
  if (!box.try_claim<kLane>(back)) {
    parts().bundle->router().fatal("poll: no room for a reply that cannot be delivered");
  }
  std::memcpy(back.slot->request.bytes, room.slot->reply.bytes, sizeof back.slot->request.bytes);
  std::memcpy(back.extension().request, room.extension().reply, sizeof back.extension().request);
  if (fields.kind == Kind::kLong) drop_staged(*parts().bundle, room, room.slot->reply);
  if (fields.kind == Kind::kMedium && back.slot != room.slot) {
    std::memcpy(back.reply_payload(), room.reply_payload(), max_medium());
  }
  const Rejection rejection{why, fields.kind};  // in the reply's half: nobody replies to this
  std::memcpy(back.extension().reply, &rejection, sizeof rejection);
  const packet::RequestMark mark{fields.handler, fields.words, packet::Form::kRejectedReply};
  box.commit<kLane>(back, mark.mark() | packet::kOneWay);
}

// One of our own requests could not be delivered: its half of the slot still holds it, and the
// other half says why.
void ReplyDispatch::take_back(Kind kind, shmem::Room room, Role role) {
  const shmem::Half& sent = room.slot->request;
  const std::uint64_t head = sent.head.load(std::memory_order_relaxed);
  const auto fields = packet::RequestMark::of(shmem::mark_of(head));
  Returned request = contents(sent, packet::request_arguments(room, kind, fields.words),
                              kind == Kind::kMedium ? room.request_payload() : nullptr, kind,
                              fields.handler, fields.words);
  if (kind == Kind::kLong) {
    drop_staged(*parts().bundle, room, sent);
    request.segment_offset = near_.offsets[near_.box->slot_of<shmem::Lane::kLong>(room)];
  }
  request.status = packet::status_in(room);
  request.role = role;
  request.destination = near_.peer.name.rank;
  parts().deliver_returned(request);
}

// In a parallel bundle with a copy, as others may send in its slot meanwhile.
void EndpointParts::deliver_returned(const Returned& message) {
  Returned returned = message;
  show_as_get(returned);
  ++stats.returned_here;
  if (!on_returned) bundle->router().fatal(sentence(returned));
  Activity& activity = bundle->activity();
  activity.enter_returned(returned.destination);
  if (bundle->access() == Access::kParallel) {
    const std::vector<std::byte> arguments(returned.arguments.begin(), returned.arguments.end());
    const std::vector<std::byte> payload(returned.payload.begin(), returned.payload.end());
    returned.arguments = arguments;
    returned.payload = payload;
    const Bundle::Unlock unlocked(*bundle);
    on_returned(returned);
  } else {
    on_returned(returned);
  }
  activity.leave_handler();
}

}  // namespace am
