// Which message it is that an event of a trace is about: what both of its ends know of it.

#include "am/core/traced.h"

#include "am/core/far/far.h"

namespace am {

TraceName traced_name(const EndpointParts& parts, Trace& trace, HandlerIndex handler) noexcept {
  if (handler == 0) return trace.name_of("get");
  const HandlerEntry& entry = parts.handlers[handler];
  return trace.name_of(entry.invoke);
}

// --- Within a node: the number of a request is in the head of its slot.

TraceFlow Outgoing::sent_flow(std::uint32_t to, Kind kind) const noexcept {
  const shmem::Outbox& box = *boxes_[to];
  std::uint64_t number = 0;
  switch (kind) {
    case Kind::kShort: number = box.last_number<shmem::Lane::kShort>(); break;
    case Kind::kMedium: number = box.last_number<shmem::Lane::kMedium>(); break;
    case Kind::kLong: number = box.last_number<shmem::Lane::kLong>(); break;
  }
  return flow_of({parts_.name, parts_.translations[to].name, box.inbox()},
                 {shmem::index(packet::lane_of(kind)), number});
}

static std::uint64_t number_in(shmem::Room room) noexcept {
  return shmem::request_number(room.slot->request.head.load(std::memory_order_relaxed));
}

TraceFlow Incoming::received_flow(const Correspondent& from, shmem::Room room) const noexcept {
  const auto position = mailbox_.position_of(*room.slot);
  return flow_of({from.name, parts_.name, position.inbox}, {position.lane, number_in(room)});
}

TraceFlow Outgoing::answered_flow(std::uint32_t to, shmem::Lane lane,
                                  shmem::Room room) const noexcept {
  return flow_of({parts_.name, parts_.translations[to].name, boxes_[to]->inbox()},
                 {shmem::index(lane), number_in(room)});
}

// --- Between nodes: packets of a translation come in the order in which they were sent.

// Whether the payload goes before its packet, which another one may then overtake.
static bool is_large(Kind kind, std::uint64_t bytes) noexcept {
  return kind == Kind::kLong && bytes > link::kMaxData;
}

TraceFlow FarEndpoint::sent_flow(std::uint32_t to, const UntypedRequest& request) noexcept {
  const bool large = is_large(request.kind, request.payload.size());
  const Name receiver = parts_.translations[to].name;
  return flow_of({parts_.name, receiver, to}, receivers_[to]->counted.next(Role::kRequest, large));
}

TraceFlow FarEndpoint::received_flow(Sender& from, const Body& body) noexcept {
  const bool large = is_large(body.kind, body.place.bytes);
  return flow_of({from.from.name, parts_.name, from.index},
                 from.counted.next(Role::kRequest, large));
}

TraceFlow FarEndpoint::replied_flow(Sender& to, const Delivery& delivery,
                                    const Answering& answering) noexcept {
  if (!TracedHandler::has_replied(delivery)) return 0;
  const Kind kind = packet::ReplyMark::of(delivery.reply).kind;
  const bool large = is_large(kind, answering.long_reply.place.bytes);
  return flow_of({to.from.name, parts_.name, to.index}, to.counted.next(Role::kReply, large));
}

TraceFlow FarEndpoint::answered_flow(Receiver& from, std::uint32_t index,
                                     const Body& body) noexcept {
  const bool large = is_large(body.kind, body.place.bytes);
  return flow_of({parts_.name, from.peer.name, index}, from.counted.next(Role::kReply, large));
}

}  // namespace am
