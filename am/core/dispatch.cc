#include "am/core/dispatch.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "am/core/far/far.h"
#include "am/core/process.h"
#include "am/message/caller.h"
#include "am/route/router.h"

namespace am {
namespace {

// Finds the payload of a medium or long message as its handler shall see it, a long one that has
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

}  // namespace

// A message of this node, whose bytes before the arguments are in `half`.
template <Role kRole, Kind kKind, class Access>
[[gnu::always_inline]] inline Status Endpoint::try_deliver(HandlerIndex handler,
                                                           std::uint32_t words, bool tag_admits,
                                                           const shmem::Half& half,
                                                           std::byte* medium, Delivery& delivery) {
  const Status status = refusal<kKind>(half, tag_admits);
  if (status != Status::kDelivered) [[unlikely]]
    return status;
  const bool written = kKind == Kind::kLong && packet::placement(half).written;
  return try_invoke<kKind, Access>(
      handler, make_shape(kRole, kKind, words), written, delivery,
      [&](std::span<std::byte>& payload) {
        if (kKind == Kind::kLong && !written) [[unlikely]] {
          return take_staged(delivery.room, packet::placement(half), payload);
        }
        const Router& router = bundle_->router();
        return find_payload<kKind>(half, medium, {router.segment(), router.segment_bytes()},
                                   payload);
      });
}

Status Endpoint::take_staged(const shmem::Room& room, const packet::Placement& place,
                             std::span<std::byte>& payload) {
  const Status status = check_place({0, segment_.size()}, place.offset, place.bytes);
  if (status != Status::kDelivered) return status;
  payload = bytes_at(segment_, place.offset, place.bytes);
  const bool taken = bundle_->process().staging().take(room.reply_payload, payload);
  return taken ? Status::kDelivered : Status::kCongestion;  // no memory to map it
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
  endpoint_.suit_threads(from);
  return peer.header->bell;
}

void Endpoint::Dispatch::closed(std::uint32_t inbox) { endpoint_.correspondents_[inbox] = {}; }

template <class Access, Role kRole, shmem::Lane kLane>
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
                    {},
                    shmem::kNoReply,
                    Access::kAnswer};
  if (fields.form != packet::Form::kOrdinary) [[unlikely]] {
    if constexpr (kRole == Role::kOneWay) rejected_reply(from, room, fields);  // else a farewell
    return shmem::kNoReply;
  }
  const Status status = endpoint_.try_deliver<kRole, kKind, Access>(
      fields.handler, fields.words, from.admitted, half, room.request_payload, delivery);
  if (status != Status::kDelivered) [[unlikely]] {
    // Its sender drops it, too, if it is still there.
    if constexpr (kKind == Kind::kLong) endpoint_.drop_staged(room, half);
    return refuse(delivery, status);
  }
  if constexpr (kRole == Role::kRequest && Access::kAnswer == Answer::kOneUncounted) {
    endpoint_.count_reply(delivery.reply);
  }
  return kRole == Role::kRequest ? delivery.reply : shmem::kNoReply;
}

void Endpoint::count_reply(shmem::Mark mark) noexcept {
  if (mark != shmem::kNoReply) ++stats_[packet::ReplyMark::of(mark).kind].replies_sent;
}

template <class Access, shmem::Lane kLane>
[[gnu::always_inline]] inline Endpoint::ReplyDispatch::Rejected Endpoint::ReplyDispatch::take(
    const shmem::Room& room, shmem::Mark mark) {
  const auto fields = packet::ReplyMark::of(mark);
  const bool tag_admits = settle<kLane>(room);
  if (fields.handler == 0) [[unlikely]] {  // an empty reply, or a request that is returned
    if (mark == packet::ReplyMark::kReturned) {
      take_back(packet::kind_of(kLane), room, Role::kRequest);
    }
    return {fields, Status::kDelivered};
  }
  switch (fields.kind) {
    case Kind::kShort: return {fields, deliver<Access, Kind::kShort>(room, fields, tag_admits)};
    case Kind::kMedium: return {fields, deliver<Access, Kind::kMedium>(room, fields, tag_admits)};
    default: return {fields, deliver<Access, Kind::kLong>(room, fields, tag_admits)};
  }
}

template <class Access, Kind kKind>
inline Status Endpoint::ReplyDispatch::deliver(const shmem::Room& room, packet::ReplyMark fields,
                                               bool tag_admits) {
  shmem::Half& half = room.slot->reply;
  Delivery delivery{endpoint_,
                    near_.peer,
                    room,
                    packet::arguments(half, room.extension->reply, kKind, fields.words),
                    {}};
  return endpoint_.try_deliver<Role::kReply, kKind, Access>(
      fields.handler, fields.words, tag_admits, half, room.reply_payload, delivery);
}

// After an alert: finds endpoints of our translations that have ended, and what has come back.
int Endpoint::attend() {
  int count = 0;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    count += bury_dead<OneThread>();
    find_gone();
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      const std::uint32_t to = connected_[i];
      count += boxes_[to]->take_returned(Replies<OneThread>(*this, to));
    }
    alerts_scanned_ = alerts;
  }
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    if (boxes_[to]->in_flight() != 0) count += boxes_[to]->abandon(Replies<OneThread>(*this, to));
  }
  if (far_) count += far_->return_unreachable();
  alerts_seen_ = is_settled() ? alerts : kNoAlert;
  return count;
}

bool Endpoint::is_settled() const noexcept {
  return gone_.empty() && !(far_ && far_->has_unreachable());
}

bool Endpoint::has_unburied() const noexcept {
  const Deaths* const deaths = bundle_->router().deaths();
  return deaths != nullptr && deaths->count() != buried_;
}

template <class Access>
int Endpoint::bury_dead() {
  if (!has_unburied()) return 0;
  const Router& router = bundle_->router();
  const std::uint32_t deaths = router.deaths()->count();
  int count = 0;
  bool all = true;
  for (Rank rank = 0; rank < router.size(); ++rank) {
    const pid_t pid = router.deaths()->pid(rank);
    if (pid == 0 || !router.is_near(rank)) continue;
    all &= mailbox_.bury<Access::kThreads>(pid, count, Arrivals<Access>(*this));
  }
  if (far_) far_->bury_dead();
  if (all) buried_ = deaths;
  return count;
}

void Endpoint::find_gone() noexcept {
  if (const Router& router = bundle_->router(); router.deaths() != nullptr) {
    for (const std::uint32_t to : connected_) {
      if (router.is_dead(translations_[to].name.rank)) boxes_[to]->owner_died();
    }
  }
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
      count += box.reap(Replies<OneThread>(*this, to));
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
  return count + mailbox_.poll(Arrivals<OneThread>(*this));
}

// The same steps, with others in between: while a handler runs, other threads send, poll and unmap.
// So what is gone through is looked up again after each step, and what another thread is at is left
// out: that thread wakes who sleeps meanwhile.
int Endpoint::poll_among_threads() {
  const Bundle::Count visit(visits_);
  int count = 0;
  if (bell_.alerts() != alerts_seen_) [[unlikely]]
    count += attend_among_threads();
  count += reap_among_threads();
  if (count != 0 && !requests_next_) {
    requests_next_ = true;
    return count;
  }
  requests_next_ = false;
  return count + mailbox_.poll<AnyThread::kThreads>(Arrivals<AnyThread>(*this));
}

int Endpoint::reap_among_threads() {
  int count = 0;
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];  // stays while it has something that this thread handles
    const auto is_done = [&] {
      return i < awaiting_.size() && awaiting_[i] == to && box.awaited() == 0;
    };
    try {
      count += box.reap<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
    } catch (...) {
      if (is_done()) drop_awaiting(i);
      throw;
    }
    if (is_done()) {
      drop_awaiting(i);
    } else {
      ++i;
    }
  }
  return count;
}

int Endpoint::attend_among_threads() {
  if (attending_) return 0;
  struct Leave {
    ~Leave() { attending = false; }
    bool& attending;
  } leave{attending_};
  attending_ = true;
  const std::uint64_t alerts = bell_.alerts();
  int count = alerts != alerts_scanned_ ? search_among_threads(alerts) : 0;
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    shmem::Outbox* const box = box_at(to);
    // Another thread may have mapped this index anew.
    if (box == nullptr || !box->gone() || box->in_flight() == 0) continue;
    count += box->abandon<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
  }
  if (far_) count += far_->return_unreachable();
  alerts_seen_ = is_settled() && alerts_scanned_ == alerts ? alerts : kNoAlert;
  return count;
}

int Endpoint::search_among_threads(std::uint64_t alerts) {
  int count = bury_dead<AnyThread>();
  find_gone();
  bool all = !has_unburied();
  const std::vector<std::uint32_t> connected = connected_;
  for (const std::uint32_t to : connected) {
    shmem::Outbox* const box = box_at(to);
    if (box == nullptr) continue;
    box->take_skipped();
    count += box->take_returned<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
    all &= !box->take_skipped();
  }
  if (all) alerts_scanned_ = alerts;
  return count;
}

// Whether attend() would find something. (What is another thread's turn is not searched here, and
// stays to be searched.)
bool Endpoint::has_returned() noexcept {
  const auto is_busy = [this](std::uint32_t to) { return boxes_[to]->busy(); };
  if (attending_ || std::ranges::any_of(connected_, is_busy)) return false;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    if (has_unburied()) return true;
    find_gone();
    if (std::ranges::any_of(connected_,
                            [this](std::uint32_t to) { return boxes_[to]->has_returned(); })) {
      return true;
    }
    alerts_scanned_ = alerts;
    alerts_seen_ = is_settled() ? alerts : kNoAlert;
  }
  if (far_ && far_->has_unreachable()) return true;
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

}  // namespace am
