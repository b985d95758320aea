// From a packet to its handler, or back to its sender: the receiving half of am::Endpoint.

#include <algorithm>
#include <cstring>

#include "am/bounce.h"
#include "am/caller.h"
#include "am/endpoint.h"

namespace am {

// What the mailbox hands its messages to.
class Endpoint::Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller);
  void closed(std::uint32_t inbox);
  template <shmem::Lane kLane>
  shmem::Mark request(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);
  template <shmem::Lane kLane>
  void one_way(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);

 private:
  // The unusual ends of a message, out of the way of the usual one.
  [[gnu::cold]] shmem::Mark refuse(const Delivery& delivery, Status why);
  [[gnu::cold]] void refuse_one_way(std::uint32_t inbox, Kind kind, packet::MarkFields fields,
                                    const Delivery& delivery, Status why);
  [[gnu::cold]] void returned(Kind kind, packet::MarkFields fields, const Delivery& delivery);

  Endpoint& endpoint_;
};

// Replies to one translation's requests.
class Endpoint::ReplyDispatch {
 public:
  ReplyDispatch(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint), from_(endpoint.translations_[to].near->peer), to_(to) {}
  template <shmem::Lane kLane>
  void reply(const shmem::Room& room, shmem::Mark mark);

 private:
  template <Kind kKind>
  void deliver(const shmem::Room& room, packet::MarkFields fields);
  [[gnu::cold]] void refuse(Kind kind, packet::MarkFields fields, const Delivery& delivery,
                            Status why);
  [[gnu::cold]] void returned(Kind kind, const shmem::Room& room);

  Endpoint& endpoint_;
  const Correspondent& from_;
  const std::uint32_t to_;
};

namespace {

// Finds the payload of a medium or long message as its handler shall see it, a long one in
// `segment`.
template <Kind kKind>
inline Status find_payload(const shmem::Half& half, std::byte* medium, std::span<std::byte> segment,
                           std::span<std::byte>& payload) {
  if constexpr (kKind == Kind::kMedium) {
    payload = {medium, packet::medium_bytes(half)};
    return payload.size() <= max_medium() ? Status::kDelivered : Status::kBadLength;
  } else {
    const packet::Placement place = packet::placement(half);
    const Extent extent{0, segment.size()};
    if (!place.written || !extent.holds(place.offset, place.bytes)) [[unlikely]] {
      return place.offset > segment.size() ? Status::kBadSegmentOffset : Status::kBadLength;
    }
    payload = segment.subspan(place.offset, place.bytes);
    return Status::kDelivered;
  }
}

// Calls the handler and counts it, if the message is what it takes; else says why not.
template <Kind kKind>
[[gnu::always_inline]] inline Status try_invoke(const HandlerEntry& entry, Shape shape,
                                                Delivery& delivery, const shmem::Half& half,
                                                std::byte* medium, std::uint64_t& count) {
  if (entry.shape != shape) [[unlikely]] {
    return entry.invoke == nullptr ? Status::kBadHandler : Status::kBadArguments;
  }
  if constexpr (kKind != Kind::kShort) {
    const Status status =
        find_payload<kKind>(half, medium, delivery.endpoint.segment(), delivery.payload);
    if (status != Status::kDelivered) [[unlikely]]
      return status;
  }
  ++count;
  entry.invoke(delivery);
  return Status::kDelivered;
}

// A message as it comes back to its sender. What it says of its own size is not to be trusted.
Returned describe(const shmem::Half& half, std::byte* extension, const std::byte* payload,
                  Kind kind, packet::MarkFields fields) {
  Returned returned{};
  returned.kind = kind;
  returned.handler = fields.handler;
  returned.arguments = {
      packet::arguments(const_cast<shmem::Half&>(half), extension, kind, fields.words),
      std::min(fields.words * packet::kWord, kMaxArgumentBytes)};
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

shmem::Doorbell& Endpoint::Dispatch::opened(std::uint32_t inbox,
                                            std::span<const std::byte> caller) {
  const auto& record = *reinterpret_cast<const Caller*>(caller.data());
  const Router& router = endpoint_.bundle_->router();
  if (caller.size() != sizeof(Caller) || record.name.rank >= router.size()) {
    router.fatal("poll: a message came from an endpoint that calls itself one of rank " +
                 std::to_string(record.name.rank) + ", but the job has " +
                 std::to_string(router.size()) + " processes; its memory is damaged");
  }
  const Peer& peer = router.peer(record.name.rank);
  Correspondent& from = endpoint_.correspondents_[inbox];
  from = {record.name, record.tag, false, &record.extent, peer.segment};
  from.admitted = endpoint_.admits(record.tag);
  return peer.header->bell;
}

void Endpoint::Dispatch::closed(std::uint32_t inbox) {
  endpoint_.correspondents_[inbox] = {};
  if (inbox >= endpoint_.ways_back_.size() || !endpoint_.ways_back_[inbox]) return;
  const shmem::Outbox* const way_back = endpoint_.ways_back_[inbox].get();
  std::erase_if(endpoint_.bounces_, [&](const Bounce& bounce) { return bounce.to == way_back; });
  endpoint_.ways_back_[inbox].reset();
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::request(std::uint32_t inbox,
                                                                      const shmem::Room& room,
                                                                      shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  const HandlerEntry& entry = endpoint_.handlers_[fields.handler];
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_,
                    from,
                    room,
                    packet::arguments(half, room.extension->request, kKind, fields.words),
                    {}};
  if (fields.form != 0) [[unlikely]]
    return shmem::Mailbox::kNoReply;  // a farewell
  if (!from.admitted) [[unlikely]]
    return refuse(delivery, Status::kBadTag);
  const Status status =
      try_invoke<kKind>(entry, make_shape(Role::kRequest, kKind, fields.words), delivery, half,
                        room.request_payload, endpoint_.stats_[kKind].requests_received);
  return status == Status::kDelivered ? delivery.reply : refuse(delivery, status);
}

shmem::Mark Endpoint::Dispatch::refuse(const Delivery& delivery, Status why) {
  ++endpoint_.stats_.returned_by_us;
  std::memcpy(delivery.room.slot->reply.bytes, &why, sizeof why);
  return packet::make_mark(0, 0, static_cast<unsigned>(packet::Form::kReturned));
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline void Endpoint::Dispatch::one_way(std::uint32_t inbox,
                                                               const shmem::Room& room,
                                                               shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  const HandlerEntry& entry = endpoint_.handlers_[fields.handler];
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_,
                    from,
                    room,
                    packet::arguments(half, room.extension->request, kKind, fields.words),
                    {}};
  if (fields.form != 0) [[unlikely]]
    return returned(kKind, fields, delivery);
  Status status = Status::kBadTag;
  if (from.admitted) [[likely]] {
    status =
        try_invoke<kKind>(entry, make_shape(Role::kOneWay, kKind, fields.words), delivery, half,
                          room.request_payload, endpoint_.stats_[kKind].one_way_received);
  }
  if (status != Status::kDelivered) [[unlikely]] {
    refuse_one_way(inbox, kKind, fields, delivery, status);
  }
}

void Endpoint::Dispatch::refuse_one_way(std::uint32_t inbox, Kind kind, packet::MarkFields fields,
                                        const Delivery& delivery, Status why) {
  endpoint_.bounces_
      .emplace_back(endpoint_.way_back(inbox), kind, fields, packet::Form::kReturned, why)
      .copy(delivery.room.slot->request, delivery.arguments, delivery.room.request_payload);
}

// One of our own one-way requests or replies has come back.
void Endpoint::Dispatch::returned(Kind kind, packet::MarkFields fields, const Delivery& delivery) {
  const shmem::Room& room = delivery.room;
  Returned message =
      describe(room.slot->request, room.extension->request, room.request_payload, kind, fields);
  std::memcpy(&message.status, room.extension->reply, sizeof message.status);
  message.opcode = fields.form == static_cast<unsigned>(packet::Form::kReturned) ? Opcode::kOneWay
                                                                                 : Opcode::kReply;
  message.destination = delivery.from.name.rank;
  endpoint_.deliver_returned(message);
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline void Endpoint::ReplyDispatch::reply(const shmem::Room& room,
                                                                  shmem::Mark mark) {
  const packet::MarkFields fields = packet::fields_of(mark);
  if (fields.handler == 0) [[unlikely]] {
    if (fields.form == static_cast<unsigned>(packet::Form::kReturned)) {
      returned(packet::kind_of(kLane), room);
    }
    return;  // else an empty reply
  }
  switch (static_cast<Kind>(fields.form)) {
    case Kind::kShort: return deliver<Kind::kShort>(room, fields);
    case Kind::kMedium: return deliver<Kind::kMedium>(room, fields);
    default: return deliver<Kind::kLong>(room, fields);
  }
}

template <Kind kKind>
inline void Endpoint::ReplyDispatch::deliver(const shmem::Room& room, packet::MarkFields fields) {
  shmem::Half& half = room.slot->reply;
  const HandlerEntry& entry = endpoint_.handlers_[fields.handler];
  Delivery delivery{endpoint_,
                    from_,
                    room,
                    packet::arguments(half, room.extension->reply, kKind, fields.words),
                    {}};
  const Status status =
      try_invoke<kKind>(entry, make_shape(Role::kReply, kKind, fields.words), delivery, half,
                        room.reply_payload, endpoint_.stats_[kKind].replies_received);
  if (status != Status::kDelivered) [[unlikely]]
    refuse(kKind, fields, delivery, status);
}

void Endpoint::ReplyDispatch::refuse(Kind kind, packet::MarkFields fields, const Delivery& delivery,
                                     Status why) {
  endpoint_.bounces_
      .emplace_back(*endpoint_.boxes_[to_], kind, fields, packet::Form::kRejectedReply, why)
      .copy(delivery.room.slot->reply, delivery.arguments, delivery.room.reply_payload);
}

// A request that was answered with "could not be delivered": its own half of the slot still holds
// it.
void Endpoint::ReplyDispatch::returned(Kind kind, const shmem::Room& room) {
  const shmem::Half& sent = room.slot->request;
  const std::uint64_t head = sent.head.load(std::memory_order_relaxed);
  Returned message = describe(sent, room.extension->request, room.request_payload, kind,
                              packet::fields_of(shmem::mark_of(head)));
  std::memcpy(&message.status, room.slot->reply.bytes, sizeof message.status);
  message.opcode = Opcode::kRequest;
  message.destination = from_.name.rank;
  endpoint_.deliver_returned(message);
}

int Endpoint::poll() {
  int count = 0;
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];
    count += box.reap(ReplyDispatch(*this, to));
    if (box.awaited() == 0) {
      awaiting_[i] = awaiting_.back();
      awaiting_.pop_back();
    } else {
      ++i;
    }
  }
  // Who waits for a reply shall not wait for a look at requests as well: when replies came,
  // requests have their turn in the next poll.
  if (count != 0 && !requests_next_) {
    requests_next_ = true;
    return count;
  }
  requests_next_ = false;
  count += mailbox_.poll(Dispatch(*this));
  if (!bounces_.empty()) [[unlikely]]
    flush_bounces();
  return count;
}

bool Endpoint::has_message() noexcept {
  for (const std::uint32_t to : awaiting_) {
    if (boxes_[to]->has_reply()) return true;
  }
  if (!bounces_.empty() && bounces_.front().can_send()) return true;
  return mailbox_.has_message();
}

}  // namespace am
