// From a packet to its handler, or back to its sender: the receiving half of am::Endpoint.

#include <cstring>
#include <type_traits>

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
  shmem::Mark request(std::uint32_t inbox, shmem::Lane lane, const shmem::Room& room,
                      shmem::Mark mark);
  void one_way(std::uint32_t inbox, shmem::Lane lane, const shmem::Room& room, shmem::Mark mark);

 private:
  void returned(const Correspondent& from, shmem::Lane lane, const shmem::Room& room,
                shmem::Mark mark);

  Endpoint& endpoint_;
};

namespace {

// The payload of a message as its handler sees it; for a long one only if it lies in `segment`.
// Returns false, with the reason, if it does not.
bool find_payload(Kind kind, const shmem::Half& half, std::byte* medium,
                  std::span<std::byte> segment, std::span<std::byte>& payload, Status& why) {
  if (kind == Kind::kMedium) {
    payload = {medium, packet::medium_bytes(half)};
    why = Status::kBadLength;
    return payload.size() <= max_medium();
  }
  if (kind == Kind::kLong) {
    const packet::Placement place = packet::placement(half);
    const Extent extent{0, segment.size()};
    if (!place.written || !extent.holds(place.offset, place.bytes)) {
      why = place.offset > segment.size() ? Status::kBadSegmentOffset : Status::kBadLength;
      return false;
    }
    payload = segment.subspan(place.offset, place.bytes);
  }
  return true;
}

Status why_refused(const HandlerEntry& entry) {
  return entry.invoke == nullptr ? Status::kBadHandler : Status::kBadArguments;
}

// A message as it comes back to its sender.
Returned describe(const shmem::Half& half, std::byte* extension, const std::byte* payload,
                  Kind kind, packet::MarkFields fields) {
  Returned returned{};
  returned.kind = kind;
  returned.handler = fields.handler;
  returned.arguments = {
      packet::arguments(const_cast<shmem::Half&>(half), extension, kind, fields.words),
      fields.words * packet::kWord};
  if (kind == Kind::kMedium) returned.payload = {payload, packet::medium_bytes(half)};
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
  const Peer& peer = endpoint_.bundle_->router().peer(record.name.rank);
  Correspondent& from = endpoint_.correspondents_[inbox];
  from = {record.name, record.tag, false, &record.extent, peer.segment};
  from.admitted = endpoint_.admits(record.tag);
  return *peer.bell;
}

void Endpoint::Dispatch::closed(std::uint32_t inbox) {
  endpoint_.correspondents_[inbox] = {};
  if (inbox >= endpoint_.ways_back_.size() || !endpoint_.ways_back_[inbox]) return;
  const shmem::Outbox* const way_back = endpoint_.ways_back_[inbox].get();
  std::erase_if(endpoint_.bounces_, [&](const Bounce& bounce) { return bounce.to == way_back; });
  endpoint_.ways_back_[inbox].reset();
}

shmem::Mark Endpoint::Dispatch::request(std::uint32_t inbox, shmem::Lane lane,
                                        const shmem::Room& room, shmem::Mark mark) {
  const Kind kind = packet::kind_of(lane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  const HandlerEntry& entry = endpoint_.handlers_[fields.handler];
  Status why = Status::kBadTag;
  if (fields.form != 0) [[unlikely]] return shmem::Mailbox::kNoReply;  // a farewell
  if (from.admitted) [[likely]] {
    Delivery delivery{endpoint_, from, room, nullptr, {}};
    if (entry.shape != make_shape(Role::kRequest, kind, fields.words)) [[unlikely]] {
      why = why_refused(entry);
    } else if (find_payload(kind, room.slot->request, room.request_payload, endpoint_.segment(),
                            delivery.payload, why)) [[likely]] {
      delivery.arguments =
          packet::arguments(room.slot->request, room.extension->request, kind, fields.words);
      ++endpoint_.stats_[kind].requests_received;
      entry.invoke(delivery);
      return delivery.reply;
    }
  }
  ++endpoint_.stats_.returned_by_us;
  std::memcpy(room.slot->reply.bytes, &why, sizeof why);
  return packet::make_mark(0, 0, static_cast<unsigned>(packet::Form::kReturned));
}

void Endpoint::Dispatch::one_way(std::uint32_t inbox, shmem::Lane lane, const shmem::Room& room,
                                 shmem::Mark mark) {
  const Kind kind = packet::kind_of(lane);
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = endpoint_.correspondents_[inbox];
  if (fields.form != 0) [[unlikely]] return returned(from, lane, room, mark);
  const HandlerEntry& entry = endpoint_.handlers_[fields.handler];
  shmem::Half& half = room.slot->request;
  std::byte* const arguments =
      packet::arguments(half, room.extension->request, kind, fields.words);
  Status why = Status::kBadTag;
  if (from.admitted) [[likely]] {
    Delivery delivery{endpoint_, from, room, arguments, {}};
    if (entry.shape != make_shape(Role::kOneWay, kind, fields.words)) [[unlikely]] {
      why = why_refused(entry);
    } else if (find_payload(kind, half, room.request_payload, endpoint_.segment(),
                            delivery.payload, why)) [[likely]] {
      ++endpoint_.stats_[kind].one_way_received;
      return entry.invoke(delivery);
    }
  }
  endpoint_.bounces_
      .emplace_back(endpoint_.way_back(inbox), kind, fields, packet::Form::kReturned, why)
      .copy(half, arguments, room.request_payload);
}

// One of our own one-way requests or replies has come back.
void Endpoint::Dispatch::returned(const Correspondent& from, shmem::Lane lane,
                                  const shmem::Room& room, shmem::Mark mark) {
  const packet::MarkFields fields = packet::fields_of(mark);
  Returned message = describe(room.slot->request, room.extension->request, room.request_payload,
                              packet::kind_of(lane), fields);
  std::memcpy(&message.status, room.extension->reply, sizeof message.status);
  message.opcode = fields.form == static_cast<unsigned>(packet::Form::kReturned) ? Opcode::kOneWay
                                                                                 : Opcode::kReply;
  message.destination = from.name.rank;
  endpoint_.deliver_returned(message);
}

void Endpoint::take_reply(std::uint32_t to, shmem::Lane lane, const shmem::Room& room,
                          shmem::Mark mark) {
  const packet::MarkFields fields = packet::fields_of(mark);
  const Correspondent& from = translations_[to].peer;
  if (fields.handler == 0) {
    if (fields.form != static_cast<unsigned>(packet::Form::kReturned)) return;  // an empty reply
    const shmem::Half& sent = room.slot->request;
    const std::uint64_t head = sent.head.load(std::memory_order_relaxed);
    Returned message = describe(sent, room.extension->request, room.request_payload,
                                packet::kind_of(lane), packet::fields_of(shmem::mark_of(head)));
    std::memcpy(&message.status, room.slot->reply.bytes, sizeof message.status);
    message.opcode = Opcode::kRequest;
    message.destination = from.name.rank;
    return deliver_returned(message);
  }
  const Kind kind = static_cast<Kind>(fields.form);
  ++stats_[kind].replies_received;
  shmem::Half& half = room.slot->reply;
  const HandlerEntry& entry = handlers_[fields.handler];
  Delivery delivery{*this, from, room,
                    packet::arguments(half, room.extension->reply, kind, fields.words), {}};
  Status why = Status::kBadArguments;
  if (entry.shape != make_shape(Role::kReply, kind, fields.words)) [[unlikely]] {
    why = why_refused(entry);
  } else if (find_payload(kind, half, room.reply_payload, segment(), delivery.payload, why)) {
    return entry.invoke(delivery);
  }
  bounces_.emplace_back(*boxes_[to], kind, fields, packet::Form::kRejectedReply, why)
      .copy(half, delivery.arguments, room.reply_payload);
}

int Endpoint::poll() {
  int count = 0;
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];
    struct Replies {
      void reply(shmem::Lane lane, const shmem::Room& room, shmem::Mark mark) {
        self.take_reply(to, lane, room, mark);
      }
      Endpoint& self;
      std::uint32_t to;
    };
    count += box.reap(Replies{*this, to});
    if (box.awaited() == 0) {
      awaiting_[i] = awaiting_.back();
      awaiting_.pop_back();
    } else {
      ++i;
    }
  }
  // Who waits for a reply shall not wait for a look at requests as well: when replies came, requests
  // have their turn in the next poll.
  if (count != 0 && !requests_next_) {
    requests_next_ = true;
    return count;
  }
  requests_next_ = false;
  count += mailbox_.poll(Dispatch(*this));
  if (!bounces_.empty()) [[unlikely]] flush_bounces();
  return count;
}

bool Endpoint::has_message() noexcept {
  for (const std::uint32_t to : awaiting_) {
    if (boxes_[to]->has_reply()) return true;
  }
  return mailbox_.has_message();
}

}  // namespace am
