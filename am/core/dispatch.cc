#include "am/core/dispatch.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "am/message/caller.h"
#include "am/route/router.h"

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

// A message of this node, whose bytes before the arguments are in `half`.
template <Role kRole, Kind kKind>
[[gnu::always_inline]] inline Status Endpoint::try_deliver(HandlerIndex handler,
                                                           std::uint32_t words, bool tag_admits,
                                                           const shmem::Half& half,
                                                           std::byte* medium, Delivery& delivery) {
  const Status status = refusal<kKind>(half, tag_admits);
  if (status != Status::kDelivered) [[unlikely]]
    return status;
  return try_invoke<kKind>(handler, make_shape(kRole, kKind, words), kKind == Kind::kLong, delivery,
                           [&](std::span<std::byte>& payload) {
                             const Router& router = bundle_->router();
                             return find_payload<kKind>(
                                 half, medium, {router.segment(), router.segment_bytes()}, payload);
                           });
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

template <Role kRole, shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::serve(std::uint32_t inbox,
                                                                    const shmem::Room& room,
                                                                    shmem::Mark mark) {
  constexpr Kind kKind = packet::kind_of(kLane);
  const auto fields = packet::RequestMark::of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  shmem::Half& half = room.slot->request;
  Delivery delivery{endpoint_,
                    from,
                    room,
                    packet::arguments(half, room.extension->request, kKind, fields.words),
                    {}};
  if (fields.form != packet::Form::kOrdinary) [[unlikely]] {
    if constexpr (kRole == Role::kOneWay) rejected_reply(from, room, fields);  // else a farewell
    return shmem::kNoReply;
  }
  const Status status = endpoint_.try_deliver<kRole, kKind>(
      fields.handler, fields.words, from.admitted, half, room.request_payload, delivery);
  if (status != Status::kDelivered) [[unlikely]]
    return refuse(delivery, status);
  return kRole == Role::kRequest ? delivery.reply : shmem::kNoReply;
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::request(std::uint32_t inbox,
                                                                      const shmem::Room& room,
                                                                      shmem::Mark mark) {
  return serve<Role::kRequest, kLane>(inbox, room, mark);
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline shmem::Mark Endpoint::Dispatch::one_way(std::uint32_t inbox,
                                                                      const shmem::Room& room,
                                                                      shmem::Mark mark) {
  return serve<Role::kOneWay, kLane>(inbox, room, mark);
}

template <shmem::Lane kLane>
[[gnu::always_inline]] inline void Endpoint::ReplyDispatch::reply(const shmem::Room& room,
                                                                  shmem::Mark mark) {
  const auto fields = packet::ReplyMark::of(mark);
  const bool tag_admits = settle<kLane>(room);
  if (fields.handler == 0) [[unlikely]] {
    if (mark != packet::ReplyMark::kReturned) return;  // an empty reply
    return take_back(packet::kind_of(kLane), room, Role::kRequest);
  }
  switch (fields.kind) {
    case Kind::kShort: return deliver<kLane, Kind::kShort>(room, fields, tag_admits);
    case Kind::kMedium: return deliver<kLane, Kind::kMedium>(room, fields, tag_admits);
    default: return deliver<kLane, Kind::kLong>(room, fields, tag_admits);
  }
}

template <shmem::Lane kLane, Kind kKind>
inline void Endpoint::ReplyDispatch::deliver(const shmem::Room& room, packet::ReplyMark fields,
                                             bool tag_admits) {
  shmem::Half& half = room.slot->reply;
  Delivery delivery{endpoint_,
                    near_.peer,
                    room,
                    packet::arguments(half, room.extension->reply, kKind, fields.words),
                    {}};
  const Status status = endpoint_.try_deliver<Role::kReply, kKind>(
      fields.handler, fields.words, tag_admits, half, room.reply_payload, delivery);
  if (status != Status::kDelivered) [[unlikely]]
    reject(kLane, fields, room, status);
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
  // A poll that has found replies returns at once, so that a caller who waits for one does not pay
  // for polling the requests as well; these have their turn in the next poll.
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
