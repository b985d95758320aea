#include "am/core/dispatch.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "am/message/caller.h"

namespace am {
namespace {

// Finds the payload of a medium or long message as its handler shall see it, a long one in this
// process's `segment`.
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

// Why the message in `half` shall not be delivered, whatever it is. `tag_admits` it, or not: a long
// one has been judged by who sent it.
template <Kind kKind>
inline Status refusal(const shmem::Half& half, bool tag_admits) noexcept {
  if constexpr (kKind == Kind::kLong) {
    const packet::Placement place = packet::placement(half);
    if (place.written) [[likely]]
      return Status::kDelivered;
    return place.status == 0 ? Status::kBadLength : static_cast<Status>(place.status);
  } else {
    return tag_admits ? Status::kDelivered : Status::kBadTag;
  }
}

}  // namespace

// Calls the handler and counts it, if the message is what it takes; else says why not.
template <Kind kKind>
[[gnu::always_inline]] inline Status Endpoint::try_invoke(HandlerIndex handler, Shape shape,
                                                          Delivery& delivery,
                                                          const shmem::Half& half,
                                                          std::byte* medium, std::uint64_t& count) {
  const HandlerEntry* entry = &handlers_[handler];
  if (entry->shape != shape) [[unlikely]] {
    if constexpr (kKind == Kind::kLong) entry = &admitted_entry(handler, shape);
    if (entry->shape != shape) return mismatch(entry->shape);
  }
  if constexpr (kKind != Kind::kShort) {
    const Router& router = bundle_->router();
    const Status status = find_payload<kKind>(
        half, medium, {router.segment(), router.segment_bytes()}, delivery.payload);
    if (status != Status::kDelivered) [[unlikely]]
      return status;
  }
  ++count;
  delivery.endpoint.bundle().activity().enter_handler(entry->invoke, delivery.from.name.rank);
  entry->invoke(delivery);
  return Status::kDelivered;
}

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
  from = {record.name,       record.tag,   endpoint_.admits(record.tag),
          &record.admission, peer.segment, {}};
  return peer.header->bell;
}

void Endpoint::Dispatch::closed(std::uint32_t inbox) { endpoint_.correspondents_[inbox] = {}; }

template <shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::request(std::uint32_t inbox,
                                                                      const shmem::Room& room,
                                                                      shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_,
                    from,
                    room,
                    packet::arguments(half, room.extension->request, kKind, fields.words),
                    {}};
  if (fields.form != 0) [[unlikely]]
    return shmem::Mailbox::kNoReply;  // a farewell
  Status status = refusal<kKind>(half, from.admitted);
  if (status == Status::kDelivered) [[likely]] {
    status = endpoint_.try_invoke<kKind>(
        fields.handler, make_shape(Role::kRequest, kKind, fields.words), delivery, half,
        room.request_payload, endpoint_.stats_[kKind].requests_received);
  }
  return status == Status::kDelivered ? delivery.reply : refuse(delivery, status);
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::one_way(std::uint32_t inbox,
                                                                      const shmem::Room& room,
                                                                      shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_,
                    from,
                    room,
                    packet::arguments(half, room.extension->request, kKind, fields.words),
                    {}};
  if (fields.form != 0) [[unlikely]] {
    rejected_reply(from, room, fields);
    return shmem::Mailbox::kNoReply;
  }
  Status status = refusal<kKind>(half, from.admitted);
  if (status == Status::kDelivered) [[likely]] {
    status = endpoint_.try_invoke<kKind>(
        fields.handler, make_shape(Role::kOneWay, kKind, fields.words), delivery, half,
        room.request_payload, endpoint_.stats_[kKind].one_way_received);
  }
  return status == Status::kDelivered ? shmem::Mailbox::kNoReply : refuse(delivery, status);
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline void Endpoint::ReplyDispatch::reply(const shmem::Room& room,
                                                                  shmem::Mark mark) {
  const packet::MarkFields fields = packet::fields_of(mark);
  const bool tag_admits = settle<kLane>(room);
  if (fields.handler == 0) [[unlikely]] {
    if (fields.form != static_cast<unsigned>(packet::Form::kReturned)) return;  // an empty reply
    return take_back(packet::kind_of(kLane), room, Opcode::kRequest);
  }
  switch (static_cast<Kind>(fields.form)) {
    case Kind::kShort: return deliver<kLane, Kind::kShort>(room, fields, tag_admits);
    case Kind::kMedium: return deliver<kLane, Kind::kMedium>(room, fields, tag_admits);
    default: return deliver<kLane, Kind::kLong>(room, fields, tag_admits);
  }
}

template <shmem::Lane kLane, Kind kKind>
inline void Endpoint::ReplyDispatch::deliver(const shmem::Room& room, packet::MarkFields fields,
                                             bool tag_admits) {
  shmem::Half& half = room.slot->reply;
  Delivery delivery{endpoint_,
                    near_.peer,
                    room,
                    packet::arguments(half, room.extension->reply, kKind, fields.words),
                    {}};
  Status status = refusal<kKind>(half, tag_admits);
  if (status == Status::kDelivered) [[likely]] {
    status = endpoint_.try_invoke<kKind>(
        fields.handler, make_shape(Role::kReply, kKind, fields.words), delivery, half,
        room.reply_payload, endpoint_.stats_[kKind].replies_received);
  }
  if (status != Status::kDelivered) [[unlikely]]
    reject(kLane, kKind, fields, room, status);
}

// After an alert: finds endpoints of our translations that have ended, and what has come back.
int Endpoint::attend() {
  int count = 0;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    find_gone();
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      const std::uint32_t to = connected_[i];
      count += boxes_[to]->take_returned(ReplyDispatch(*this, to));
    }
    alerts_scanned_ = alerts;
  }
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    if (boxes_[to]->in_flight() != 0) count += boxes_[to]->abandon(ReplyDispatch(*this, to));
  }
  alerts_seen_ = gone_.empty() ? alerts : kNoAlert;
  return count;
}

void Endpoint::find_gone() noexcept {
  gone_.clear();
  std::ranges::copy_if(connected_, std::back_inserter(gone_),
                       [this](std::uint32_t to) { return boxes_[to]->gone(); });
}

void Endpoint::drop_awaiting(std::size_t i) noexcept {
  awaiting_[i] = awaiting_.back();
  awaiting_.pop_back();
}

int Endpoint::poll() {
  int count = 0;
  if (bell_.alerts() != alerts_seen_) [[unlikely]]
    count += attend();
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];
    try {
      count += box.reap(ReplyDispatch(*this, to));
    } catch (...) {
      if (box.awaited() == 0) drop_awaiting(i);
      throw;
    }
    if (box.awaited() == 0) {
      drop_awaiting(i);
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
  return count + mailbox_.poll(Dispatch(*this));
}

// Whether attend() would find something.
bool Endpoint::has_returned() noexcept {
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    find_gone();
    if (std::ranges::any_of(connected_,
                            [this](std::uint32_t to) { return boxes_[to]->has_returned(); })) {
      return true;
    }
    alerts_scanned_ = alerts;
    alerts_seen_ = gone_.empty() ? alerts : kNoAlert;
  }
  return std::ranges::any_of(gone_,
                             [this](std::uint32_t to) { return boxes_[to]->in_flight() != 0; });
}

bool Endpoint::has_message() noexcept {
  for (const std::uint32_t to : awaiting_) {
    if (boxes_[to]->has_reply()) return true;
  }
  if (bell_.alerts() != alerts_seen_ && has_returned()) return true;
  return mailbox_.has_message();
}

void Endpoint::close_mailbox() { mailbox_.close(Dispatch(*this)); }

}  // namespace am
