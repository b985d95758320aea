// What comes to an endpoint from endpoints of other nodes.

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/core/dispatch.h"
#include "am/core/far.h"
#include "am/route/router.h"

namespace am {
namespace {

using link::MessagePacket;
using link::Place;
using link::Type;

}  // namespace

// The parts of a message that carries something.
struct Endpoint::Far::Body {
  Kind kind = Kind::kShort;
  Kind request = Kind::kShort;  // what a reply answers
  Role was = Role::kRequest;
  Place place{};
  bool written = false;  // a long payload, before this packet
  std::span<const std::byte> arguments;
  std::span<const std::byte> payload;

  // False: the packet is damaged.
  [[nodiscard]] bool read(const MessagePacket& message) noexcept;
};

bool Endpoint::Far::Body::read(const MessagePacket& message) noexcept {
  const std::uint8_t detail = message.head.detail;
  if (link::kind_bits(detail) >= kKinds || link::request_bits(detail) >= kKinds ||
      link::role_bits(detail) > static_cast<unsigned>(Role::kReply)) {
    return false;
  }
  kind = static_cast<Kind>(link::kind_bits(detail));
  request = static_cast<Kind>(link::request_bits(detail));
  was = static_cast<Role>(link::role_bits(detail));
  const std::uint32_t argument_bytes = message.head.words * packet::kWord;
  const std::uint32_t place_bytes = kind == Kind::kLong ? sizeof place : 0;
  const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof message) + place_bytes +
                              link::rounded(argument_bytes) +
                              link::rounded(message.head.data_bytes);
  if (bytes != message.head.bytes || argument_bytes > kMaxArgumentBytes ||
      message.head.data_bytes > link::kMaxData) {
    return false;
  }
  const auto* at = reinterpret_cast<const std::byte*>(&message + 1);
  if (place_bytes != 0) std::memcpy(&place, at, sizeof place);
  if (link::carries_payload(detail) && place.bytes != message.head.data_bytes) return false;
  written = kind == Kind::kLong && !link::carries_payload(detail) && message.status == 0;
  arguments = {at + place_bytes, argument_bytes};
  payload = {at + place_bytes + link::rounded(argument_bytes), message.head.data_bytes};
  return true;
}

bool Endpoint::Far::deliver(Rank from, const MessagePacket& message) {
  switch (message.head.type) {
    case Type::kRequest:
    case Type::kOneWay:
    case Type::kFlush: return deliver_to_receiver(from, message);
    case Type::kReply:
    case Type::kCredits: return deliver_to_requester(from, message);
    case Type::kHello: return deliver_hello(from, message);
    case Type::kExtent: return deliver_extent(from, message);
    case Type::kReturned: return deliver_returned(from, message);
    case Type::kGoodbye: return deliver_goodbye(from, message);
    case Type::kGone: return deliver_gone(from, message);
    default: return false;
  }
}

// To the endpoint that a translation of another sends to.
bool Endpoint::Far::deliver_to_receiver(Rank from, const MessagePacket& message) {
  Incoming* const sender = find_incoming(from, message);
  if (sender == nullptr) return false;
  if (message.head.type == Type::kRequest) return deliver_request(*sender, message, Role::kRequest);
  if (message.head.type == Type::kOneWay) return deliver_request(*sender, message, Role::kOneWay);
  send_credits(*sender, true);
  return true;
}

// To the endpoint whose translation sends.
bool Endpoint::Far::deliver_to_requester(Rank from, const MessagePacket& message) {
  Outgoing* const to = find_outgoing(from, message);
  if (to == nullptr) return false;
  if (message.head.type == Type::kReply) return deliver_reply(*to, message);
  credit(*to, message);
  if (message.head.detail != link::kFlushed) return true;
  if (to->flushes == 0) return false;
  --to->flushes;
  to->answers.one_came();
  return true;
}

bool Endpoint::Far::deliver_goodbye(Rank from, const MessagePacket& message) {
  last_incoming_ = nullptr;
  return incoming_.erase({from, message.from, message.index}) == 1;
}

bool Endpoint::Far::deliver_gone(Rank from, const MessagePacket& message) {
  Outgoing* const to = find_outgoing(from, message);
  if (to == nullptr || to->gone) return true;  // it crossed our kGoodbye, or was sent twice
  to->gone = true;
  credit(*to, message);
  if (!to->known) to->answers.one_came();
  if (std::exchange(to->asking, false)) to->answers.one_came();
  return true;
}

bool Endpoint::Far::deliver_hello(Rank from, const MessagePacket& message) {
  const auto* const hello = link::as<link::Introduction>(message.head);
  if (hello == nullptr) return false;
  auto& made = incoming_[{from, message.from, message.index}];
  if (made) return false;
  made = std::make_unique<Incoming>();
  made->rank = from;
  made->serial = message.from;
  made->index = message.index;
  made->from = {
      Name{from, message.from, {}}, hello->tag, endpoint_.admits(hello->tag), nullptr, nullptr, {}};
  made->epoch = message.epoch;
  if (!made->announced.read(*hello)) return false;
  introduce(*made, 0);
  return true;
}

bool Endpoint::Far::deliver_extent(Rank from, const MessagePacket& message) {
  const auto* const packet = link::as<link::Introduction>(message.head);
  if (packet == nullptr) return false;
  const std::uint8_t detail = message.head.detail;
  if ((detail & link::kFromRequester) != 0) {
    Incoming* const sender = find_incoming(from, message);
    if (sender == nullptr || !sender->announced.read(*packet)) return false;
    sender->epoch = message.epoch;
    if ((detail & link::kAsks) != 0) introduce(*sender, link::kAnswers);
    return true;
  }
  Outgoing* const to = find_outgoing(from, message);
  if (to == nullptr) return true;  // a change that crossed our kGoodbye
  if (!to->known) to->answers.one_came();
  if ((detail & link::kAnswers) != 0 && std::exchange(to->asking, false)) to->answers.one_came();
  to->known = Announced{};
  return to->known->read(*packet);
}

// Puts the payload of a medium or long message where its handler shall see it.
Status Endpoint::Far::place_payload(const MessagePacket& message, const Body& body,
                                    std::span<std::byte>& payload) {
  if (body.kind == Kind::kMedium) {
    // A handler that takes it sees only const bytes.
    payload = {const_cast<std::byte*>(body.payload.data()), body.payload.size()};
    return Status::kDelivered;
  }
  const Router& router = endpoint_.bundle().router();
  Extent extent = endpoint_.extent_;
  if (body.written) {  // and admitted, at the place that it had then
    if (body.place.base > router.segment_bytes()) return Status::kBadSegmentOffset;
    extent = {body.place.base, router.segment_bytes() - body.place.base};
  }
  const Status status = check_place(extent, body.place.offset, body.place.bytes);
  if (status != Status::kDelivered) return status;
  if (message.status != 0) return static_cast<Status>(message.status);  // there is no payload
  payload = {router.segment() + extent.offset + body.place.offset, body.place.bytes};
  if (link::carries_payload(message.head.detail)) {
    packet::copy_payload(payload.data(), body.payload);
  }
  return Status::kDelivered;
}

Status Endpoint::Far::try_deliver(Delivery& delivery, const MessagePacket& message,
                                  const Body& body, Role role, bool tag_admits) {
  if (!tag_admits && !body.written) return Status::kBadTag;
  const HandlerIndex handler = message.head.handler;
  const Shape shape = make_shape(role, body.kind, message.head.words);
  const auto place = [&](std::span<std::byte>& payload) {
    return place_payload(message, body, payload);
  };
  switch (body.kind) {
    case Kind::kShort:
      return endpoint_.try_invoke<Kind::kShort>(handler, shape, false, delivery, place);
    case Kind::kMedium:
      return endpoint_.try_invoke<Kind::kMedium>(handler, shape, false, delivery, place);
    default:
      return endpoint_.try_invoke<Kind::kLong>(handler, shape, body.written, delivery, place);
  }
}

bool Endpoint::Far::deliver_request(Incoming& from, const MessagePacket& message, Role role) {
  Body body;
  if (!body.read(message)) return false;
  Delivery delivery{endpoint_, from.from, room_, body.arguments.data(), {}};
  long_reply_.to = &from;
  long_reply_.epoch = message.epoch;
  const auto finish = [&] {
    if (role == Role::kRequest) return send_reply(from, body.kind, delivery.reply, message.epoch);
    const int kind = static_cast<int>(body.kind);
    if (++from.unreported[kind] >= shmem::kWindow[kind] / 4) send_credits(from);
  };
  Status status = Status::kDelivered;
  try {
    status = try_deliver(delivery, message, body, role, from.from.admitted);
  } catch (...) {
    delivery.reply = shmem::kNoReply;
    finish();  // no credit is lost
    throw;
  }
  if (status == Status::kDelivered) {
    finish();
    return true;
  }
  ++endpoint_.stats_.returned_by_us;
  send_back(port_.link(), from.rank, message, status);
  if (role == Role::kOneWay) finish();
  return true;
}

bool Endpoint::Far::answered(Outgoing& from, Kind request, TagEpochs::Epoch epoch) {
  std::uint32_t& count = from.in_flight[static_cast<int>(request)];
  if (count == 0) return false;
  --count;
  from.answers.one_came();
  const std::optional<Tag> former = epochs_.answered(epoch);
  return former && (epoch == epochs_.current() || endpoint_.admits_reply(*former));
}

void Endpoint::Far::credit(Outgoing& to, const MessagePacket& message) noexcept {
  for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
    std::uint32_t& count = to.in_flight[static_cast<int>(kind)];
    count -= std::min(count, link::credits_of(message.credits, kind));
  }
}

bool Endpoint::Far::deliver_reply(Outgoing& from, const MessagePacket& message) {
  Body body;
  if (!body.read(message)) return false;
  const bool tag_admits = answered(from, body.request, message.epoch);
  credit(from, message);
  if (message.head.handler == 0) return true;  // empty
  Delivery delivery{endpoint_, from.peer, room_, body.arguments.data(), {}};
  const Status status = try_deliver(delivery, message, body, Role::kReply, tag_admits);
  if (status == Status::kDelivered) return true;
  ++endpoint_.stats_.returned_by_us;
  send_back(port_.link(), from.rank, message, status);
  messages_.flush_returned(from.rank);
  return true;
}

// Sends a message that cannot be delivered here back to where it came from.
void Endpoint::Far::send_back(link::Link& link, Rank to, const MessagePacket& message, Status why) {
  Role was = Role::kRequest;
  if (message.head.type == Type::kOneWay) was = Role::kOneWay;
  if (message.head.type == Type::kReply) was = Role::kReply;
  const auto kind = static_cast<Kind>(link::kind_bits(message.head.detail));
  std::uint32_t bytes = message.head.bytes;
  if (kind == Kind::kLong) bytes -= link::rounded(message.head.data_bytes);
  std::byte* const at = link.claim(to, bytes);
  std::memcpy(at, &message, bytes);
  MessagePacket head = message;
  head.head.bytes = static_cast<std::uint16_t>(bytes);
  head.head.type = Type::kReturned;
  head.head.detail = link::make_detail(kind, kind, was);
  if (kind == Kind::kLong) head.head.data_bytes = 0;
  head.to = message.from;
  head.from = message.to;
  head.credits = 0;
  head.status = static_cast<std::uint8_t>(why);
  std::memcpy(at, &head, sizeof head);
  link.commit(to);
}

void Endpoint::Far::refuse_unknown(link::Link& link, Rank from, const MessagePacket& message) {
  const auto answer = [&](Type type, std::uint8_t detail) {
    MessagePacket packet{};
    packet.head = link::make_header(type, sizeof packet, 0, detail);
    packet.to = message.from;
    packet.from = message.to;
    packet.index = message.index;
    link.send(from, std::as_bytes(std::span(&packet, 1)));
  };
  Body body;
  switch (message.head.type) {
    case Type::kReply:
      if (message.head.handler == 0) return;  // an empty one
      [[fallthrough]];
    case Type::kRequest:
    case Type::kOneWay:
      if (body.read(message)) send_back(link, from, message, Status::kBadEndpoint);
      return;
    case Type::kHello: return answer(Type::kGone, 0);
    case Type::kExtent:
      if ((message.head.detail & link::kAsks) != 0) answer(Type::kGone, 0);
      return;
    case Type::kFlush: return answer(Type::kCredits, link::kFlushed);
    default: return;  // nobody waits for the rest
  }
}

// One of our own messages has come back.
bool Endpoint::Far::deliver_returned(Rank from, const MessagePacket& message) {
  Body body;
  if (!body.read(message)) return false;
  if (body.was != Role::kReply) {
    Outgoing* const to = find_outgoing(from, message);
    if (to == nullptr) return false;
    if (body.was == Role::kRequest) {
      answered(*to, body.kind, message.epoch);
    } else if (message.status == static_cast<std::uint32_t>(Status::kBadEndpoint)) {
      std::uint32_t& count = to->in_flight[static_cast<int>(body.kind)];
      if (count != 0) --count;  // nobody else reports it as read
    }
  }
  Returned returned{};
  returned.status = static_cast<Status>(message.status);
  returned.role = body.was;
  returned.kind = body.kind;
  returned.handler = message.head.handler;
  returned.destination = from;
  returned.arguments = body.arguments;
  returned.payload = body.payload;
  returned.segment_offset = body.place.offset;
  returned.segment_bytes = body.place.bytes;
  endpoint_.deliver_returned(returned);
  return true;
}

}  // namespace am
