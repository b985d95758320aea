// What comes to an endpoint from endpoints of other nodes.

#include <algorithm>
#include <cstring>
#include <optional>

#include "am/core/dispatch.h"
#include "am/core/far/far.h"
#include "am/core/traced.h"
#include "am/route/router.h"
#include "am/types/object_pool.h"

namespace am {
namespace {

using link::MessagePacket;
using link::Type;

}  // namespace

bool far::Body::read(const MessagePacket& message) noexcept {
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
  const std::uint32_t before = static_cast<std::uint32_t>(sizeof message) + place_bytes;
  const std::uint32_t data_bytes = link::rounded(message.head.data_bytes);
  const std::uint32_t bytes = before + link::rounded(argument_bytes) + data_bytes;
  // (Or with a payload that was written before its arguments, see far.cc.)
  const auto prepared = [&] {
    return kind == Kind::kMedium && message.head.bytes == before + kMaxArgumentBytes + data_bytes;
  };
  if ((bytes != message.head.bytes && !prepared()) || argument_bytes > kMaxArgumentBytes ||
      message.head.data_bytes > link::kMaxData) {
    return false;
  }
  const auto* at = reinterpret_cast<const std::byte*>(&message + 1);
  if (place_bytes != 0) std::memcpy(&place, at, sizeof place);
  if (link::carries_payload(detail) && place.bytes != message.head.data_bytes) return false;
  const bool ahead = kind == Kind::kLong && !link::carries_payload(detail) && message.status == 0;
  in_fragments = ahead && Extent::is_elsewhere(place.base);
  written = ahead && !in_fragments;
  arguments = {at + place_bytes, argument_bytes};
  const auto* const end = reinterpret_cast<const std::byte*>(&message) + message.head.bytes;
  payload = {end - data_bytes, message.head.data_bytes};
  return true;
}

shmem::Room far::Body::write_arguments(Answering& to, Role role) const noexcept {
  const auto words = static_cast<std::uint32_t>(arguments.size() / packet::kWord);
  packet::copy_payload(packet::arguments(to.room(), role, kind, words), arguments);
  return to.room();
}

template <class Access>
bool FarEndpoint::deliver(Rank from, const MessagePacket& message) {
  switch (message.head.type) {
    case Type::kRequest:
    case Type::kOneWay:
    case Type::kFlush: return deliver_to_receiver<Access>(from, message);
    case Type::kReply:
    case Type::kCredits: return deliver_to_requester<Access>(from, message);
    case Type::kHello: return deliver_hello(from, message);
    case Type::kExtent: return deliver_extent(from, message);
    case Type::kReturned: return deliver_returned(from, message);
    case Type::kGoodbye: return deliver_goodbye(from, message);
    case Type::kGone: return deliver_gone(from, message);
    case Type::kFragment: return deliver_fragment(from, message);
    default: return false;
  }
}

template bool FarEndpoint::deliver<OneThread>(Rank, const MessagePacket&);
template bool FarEndpoint::deliver<AnyThread>(Rank, const MessagePacket&);

template <class Access>
bool FarEndpoint::deliver_to_receiver(Rank from, const MessagePacket& message) {
  Sender* const sender = find_sender(from, message);
  if (sender == nullptr) return false;
  if (message.head.type == Type::kFlush) {
    send_credits(*sender, true);
    return true;
  }
  const bool one_way = message.head.type == Type::kOneWay;
  return deliver_request<Access>(*sender, message, one_way ? Role::kOneWay : Role::kRequest);
}

// To the endpoint whose translation sends.
template <class Access>
bool FarEndpoint::deliver_to_requester(Rank from, const MessagePacket& message) {
  Receiver* const to = find_receiver(from, message);
  if (to == nullptr) return false;
  if (message.head.type == Type::kReply) return deliver_reply<Access>(*to, message);
  credit(*to, message);
  if (message.head.detail != link::kFlushed) return true;
  if (to->flushes == 0) return false;
  --to->flushes;
  to->answers.one_came();
  return true;
}

bool FarEndpoint::deliver_fragment(Rank from, const MessagePacket& message) {
  Body body;
  if (!body.read(message)) return false;
  const std::uint64_t most = parts_.admission.extent.bytes;
  const bool first = (message.head.detail & link::kFirstFragment) != 0;
  if (body.was == Role::kReply) {
    Receiver* const replier = find_receiver(from, message);
    if (replier != nullptr) replier->fragments.add(body.payload, first, most);
    return true;  // nobody asks any more: it crossed our kGoodbye
  }
  Sender* const sender = find_sender(from, message);
  if (sender == nullptr) return false;
  sender->fragments.add(body.payload, first, most);
  return true;
}

void far::Fragments::add(std::span<const std::byte> fragment, bool first, std::uint64_t most) {
  if (first) clear();
  too_long_ |= fragment.size() > most || bytes_.size() > most - fragment.size();
  if (too_long_) return;
  bytes_.insert(bytes_.end(), fragment.begin(), fragment.end());
}

bool far::Fragments::move_to(std::span<std::byte> to) {
  if (too_long_ || bytes_.size() != to.size()) return false;
  packet::copy_payload(to.data(), bytes_);
  return true;
}

void far::Fragments::clear() {
  clear_kept(bytes_);
  too_long_ = false;
}

// Puts the payload of a medium or long message where its handler shall see it.
Status FarEndpoint::place_payload(const MessagePacket& message, const Body& body,
                                  Fragments& fragments, std::span<std::byte>& payload) {
  if (body.kind == Kind::kMedium) {
    // A handler that takes it sees only const bytes.
    payload = {const_cast<std::byte*>(body.payload.data()), body.payload.size()};
    return Status::kDelivered;
  }
  const Router& router = parts_.bundle->router();
  std::span<std::byte> segment = parts_.admission.segment;
  if (body.written) {  // and admitted, at the place that it had then
    if (body.place.base > router.segment_bytes()) return Status::kBadSegmentOffset;
    segment = {router.segment() + body.place.base, router.segment_bytes() - body.place.base};
  }
  const Status status = check_place(segment, body.place.offset, body.place.bytes);
  if (status != Status::kDelivered) return status;
  if (message.status != 0) return static_cast<Status>(message.status);  // there is no payload
  payload = bytes_at(segment, body.place.offset, body.place.bytes);
  if (body.in_fragments)
    return fragments.move_to(payload) ? Status::kDelivered : Status::kBadLength;
  if (link::carries_payload(message.head.detail)) {
    packet::copy_payload(payload.data(), body.payload);
  }
  return Status::kDelivered;
}

template <class Access>
Status FarEndpoint::try_deliver(Delivery& delivery, const MessagePacket& message, const Body& body,
                                Role role, bool tag_admits, Fragments& fragments) {
  // Whatever becomes of the message, its fragments are none of the next one's.
  const Finally clear([&] {
    if (body.in_fragments) fragments.clear();
  });
  if (!tag_admits && !body.written) return Status::kBadTag;
  const HandlerIndex handler = message.head.handler;
  const Shape shape = make_shape(role, body.kind, message.head.words);
  const auto place = [&](std::span<std::byte>& payload) {
    return place_payload(message, body, fragments, payload);
  };
  switch (body.kind) {
    case Kind::kShort:
      return try_invoke<Kind::kShort, Access>(parts_, handler, shape, false, delivery, place);
    case Kind::kMedium:
      return try_invoke<Kind::kMedium, Access>(parts_, handler, shape, false, delivery, place);
    case Kind::kLong: break;
  }
  return try_invoke<Kind::kLong, Access>(parts_, handler, shape, body.written, delivery, place);
}

template <class Access>
bool FarEndpoint::deliver_request(Sender& from, const MessagePacket& message, Role role) {
  Body body;
  if (!body.read(message)) return false;
  Answering& answering = take_answering<Access>();
  const Finally give_back([&] { give_back_answering<Access>(answering); });
  const shmem::Room room = body.write_arguments(answering, role);
  Delivery delivery{parts_.endpoint, from.from, room, {}};
  answering.long_reply.to = &from;
  answering.long_reply.epoch = message.epoch;
  const auto finish = [&] {
    if (role == Role::kRequest) return send_reply(from, body.kind, delivery.reply, answering);
    const int kind = static_cast<int>(body.kind);
    if (++from.unreported[kind] >= kReported[kind]) send_credits(from);
  };
  Status status = Status::kDelivered;
  TracedHandler traced(parts_);
  if (traced) traced.begin(role, message.head.handler, from.rank, received_flow(from, body));
  try {
    status = try_deliver<Access>(delivery, message, body, role, from.from.admitted, from.fragments);
  } catch (...) {
    delivery.reply = shmem::kNoReply;
    answering.long_reply.drop();
    finish();  // no credit is lost
    throw;
  }
  if (traced) traced.end(status, delivery, replied_flow(from, delivery, answering));
  if (status == Status::kDelivered) {
    count_reply(parts_, delivery.reply);
    finish();
    return true;
  }
  ++parts_.stats.returned_by_us;
  const Port::Lock network(port_);
  // What was read before it is reported before it, so that its sender knows which comes back.
  if (role == Role::kOneWay && survives()) send_credits(from);
  send_back(port_.link(), from.rank, message, status);
  if (role == Role::kOneWay) finish();
  return true;
}

bool FarEndpoint::answered(Receiver& from, Kind request, TagEpochs::Epoch epoch) {
  std::uint32_t& count = from.in_flight[static_cast<int>(request)];
  if (count == 0) return false;
  --count;
  if (from.kept) from.kept->settle(request, Role::kRequest);
  from.answers.one_came();
  const std::optional<Tag> former = epochs_.answered(epoch);
  return former && (epoch == epochs_.current() || parts_.admission.admits_reply(*former));
}

void FarEndpoint::credit(Receiver& to, const MessagePacket& message) noexcept {
  for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
    std::uint32_t& count = to.in_flight[static_cast<int>(kind)];
    const std::uint32_t read = std::min(count, link::credits_of(message.credits, kind));
    count -= read;
    if (to.kept) to.kept->settle(kind, Role::kOneWay, read);
  }
}

template <class Access>
bool FarEndpoint::deliver_reply(Receiver& from, const MessagePacket& message) {
  Body body;
  if (!body.read(message)) return false;
  const bool tag_admits = answered(from, body.request, message.epoch);
  credit(from, message);
  if (message.head.handler == 0) return true;  // empty
  Answering& answering = take_answering<Access>();
  const Finally give_back([&] { give_back_answering<Access>(answering); });
  Delivery delivery{parts_.endpoint, from.peer, body.write_arguments(answering, Role::kReply), {}};
  TracedHandler traced(parts_);
  if (traced) {
    traced.begin(Role::kReply, message.head.handler, from.rank,
                 answered_flow(from, message.index, body));
  }
  const Status status =
      try_deliver<Access>(delivery, message, body, Role::kReply, tag_admits, from.fragments);
  if (traced) traced.end(status, delivery);
  if (status == Status::kDelivered) return true;
  ++parts_.stats.returned_by_us;
  const Port::Lock network(port_);
  send_back(port_.link(), from.rank, message, status);
  messages_.flush_returned(from.rank);
  return true;
}

// Sends a message that cannot be delivered here back to where it came from.
void FarEndpoint::send_back(link::Link& link, Rank to, const MessagePacket& message, Status why) {
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

void FarEndpoint::refuse_unknown(link::Link& link, Rank from, const MessagePacket& message) {
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
bool FarEndpoint::deliver_returned(Rank from, const MessagePacket& message) {
  Body body;
  if (!body.read(message)) return false;
  if (body.was != Role::kReply) {
    Receiver* const to = find_receiver(from, message);
    if (to == nullptr) return false;
    if (body.was == Role::kRequest) {
      answered(*to, body.kind, message.epoch);
    } else if (message.status == static_cast<std::uint32_t>(Status::kBadEndpoint)) {
      std::uint32_t& count = to->in_flight[static_cast<int>(body.kind)];
      if (count != 0) --count;  // nobody else reports it as read
      if (to->kept) to->kept->settle(body.kind, Role::kOneWay);
    } else if (to->kept) {
      to->kept->note_returned(body.kind);
    }
  }
  pass_returned(from, message, body, static_cast<Status>(message.status));
  return true;
}

void FarEndpoint::pass_returned(Rank from, const MessagePacket& message, const Body& body,
                                Status status) {
  Returned returned{};
  returned.status = status;
  returned.role = body.was;
  returned.kind = body.kind;
  returned.handler = message.head.handler;
  returned.destination = from;
  returned.arguments = body.arguments;
  returned.payload = body.payload;
  returned.segment_offset = body.place.offset;
  returned.segment_bytes = body.place.bytes;
  parts_.deliver_returned(returned);
}

}  // namespace am
