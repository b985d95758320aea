// What an endpoint sends to endpoints of other nodes.

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/far.h"

namespace am {
namespace {

using link::MessagePacket;
using link::Place;
using link::Type;

// Appends to a packet.
class Writer {
 public:
  explicit Writer(std::byte* at) noexcept : at_(at) {}
  // Rounded up to 8 bytes.
  void put(const void* from, std::size_t bytes) noexcept {
    if (bytes != 0) std::memcpy(at_, from, bytes);
    at_ += link::rounded(static_cast<std::uint32_t>(bytes));
  }

 private:
  std::byte* at_;
};

// A packet with `head`, for which the sizes are filled in.
void post(link::Link& link, Rank to, MessagePacket head, const Place* place,
          std::span<const std::byte> arguments, std::span<const std::byte> payload) {
  const auto argument_bytes = static_cast<std::uint32_t>(arguments.size());
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  const auto bytes =
      static_cast<std::uint32_t>(sizeof head + (place == nullptr ? 0 : sizeof *place) +
                                 link::rounded(argument_bytes) + link::rounded(payload_bytes));
  head.head.bytes = static_cast<std::uint16_t>(bytes);
  head.head.data_bytes = static_cast<std::uint16_t>(payload_bytes);
  head.head.words = static_cast<std::uint8_t>(argument_bytes / packet::kWord);
  Writer packet(link.claim(to, bytes));
  packet.put(&head, sizeof head);
  if (place != nullptr) packet.put(place, sizeof *place);
  packet.put(arguments.data(), arguments.size());
  packet.put(payload.data(), payload.size());
  link.commit(to);
}

// A long message without its payload, which is written separately.
struct LongPacket {
  LongPacket(MessagePacket head, const Place& place,
             std::span<const std::byte> arguments) noexcept {
    const auto argument_bytes = static_cast<std::uint32_t>(arguments.size());
    bytes = sizeof head + sizeof place + link::rounded(argument_bytes);
    head.head.bytes = static_cast<std::uint16_t>(bytes);
    head.head.words = static_cast<std::uint8_t>(argument_bytes / packet::kWord);
    Writer packet(data.data());
    packet.put(&head, sizeof head);
    packet.put(&place, sizeof place);
    packet.put(arguments.data(), arguments.size());
  }
  std::span<const std::byte> span() const noexcept { return {data.data(), bytes}; }

  std::array<std::byte, Transfers::kMaxPacket> data{};
  std::size_t bytes;
};

}  // namespace

MessagePacket Endpoint::Far::head_to(const Outgoing& to, std::uint32_t index,
                                     Type type) const noexcept {
  MessagePacket message{};
  message.head.type = type;
  message.head.detail = type == Type::kExtent ? link::kFromRequester : 0;
  message.to = to.serial;
  message.from = endpoint_.name().serial;
  message.index = static_cast<std::uint16_t>(index);
  return message;
}

MessagePacket Endpoint::Far::head_to(const Incoming& to, Type type) const noexcept {
  MessagePacket message{};
  message.head.type = type;
  message.to = to.serial;
  message.from = endpoint_.name().serial;
  message.index = to.index;
  return message;
}

bool Endpoint::Far::try_send(std::uint32_t to, const Parcel& parcel) {
  Outgoing& out = outgoing(to);
  const int kind = static_cast<int>(parcel.kind);
  if (out.in_flight[kind] == shmem::kWindow[kind] || port_.link().congested(out.rank)) return false;
  if (parcel.kind == Kind::kLong && parcel.payload.size() > link::kMaxData) {
    if (!send_long(out, to, parcel)) return false;
  } else {
    send_request(out, to, parcel);
    if (parcel.released != nullptr) *parcel.released = true;
  }
  ++out.in_flight[kind];
  if (parcel.role == Role::kOneWay) {
    ++endpoint_.stats_[parcel.kind].one_way_sent;
  } else {
    ++endpoint_.stats_[parcel.kind].requests_sent;
    port_.await();
  }
  return true;
}

void Endpoint::Far::send_request(Outgoing& to, std::uint32_t index, const Parcel& parcel) {
  MessagePacket head =
      head_to(to, index, parcel.role == Role::kOneWay ? Type::kOneWay : Type::kRequest);
  const bool is_long = parcel.kind == Kind::kLong;
  head.head.handler = parcel.handler;
  head.head.detail = link::make_detail(parcel.kind, parcel.kind, Opcode::kRequest, is_long);
  const Place place{parcel.offset, parcel.payload.size()};
  post(port_.link(), to.rank, head, is_long ? &place : nullptr, parcel.argument_bytes(),
       parcel.payload);
}

// False: the other endpoint has not told yet where its segment is.
bool Endpoint::Far::send_long(Outgoing& to, std::uint32_t index, const Parcel& parcel) {
  if (!to.extent) return false;
  MessagePacket head =
      head_to(to, index, parcel.role == Role::kOneWay ? Type::kOneWay : Type::kRequest);
  head.head.handler = parcel.handler;
  head.head.detail = link::make_detail(parcel.kind, parcel.kind);
  const Place place{parcel.offset, parcel.payload.size()};
  if (!to.extent->holds(place.offset, place.bytes)) {  // to be returned
    post(port_.link(), to.rank, head, &place, parcel.argument_bytes(), {});
    if (parcel.released != nullptr) *parcel.released = true;
    return true;
  }
  const LongPacket packet(head, place, parcel.argument_bytes());
  const std::uint64_t at = to.extent->offset + place.offset;
  if (parcel.released != nullptr) {
    port_.transfers().start(to.rank, at, parcel.payload, packet.span(), *parcel.released);
  } else {
    port_.transfers().start_copy(to.rank, at, parcel.payload, packet.span());
  }
  return true;
}

// One-way requests read are reported with whatever goes to the requester.
void Endpoint::Far::take_credits(Incoming& to, MessagePacket& head) noexcept {
  for (int kind = 0; kind < kKinds; ++kind) {
    head.credits[kind] = std::exchange(to.unreported[kind], std::uint8_t{0});
  }
}

void Endpoint::Far::send_credits(Incoming& to, bool flushed) {
  MessagePacket head = head_to(to, Type::kCredits);
  head.head.detail = flushed ? link::kFlushed : 0;
  take_credits(to, head);
  post(port_.link(), to.rank, head, nullptr, {}, {});
}

// What the handler of a request of kind `request` has left in room_.
void Endpoint::Far::send_reply(Incoming& to, Kind request, shmem::Mark reply) {
  const packet::MarkFields fields = packet::fields_of(reply);
  const auto kind = fields.handler == 0 ? Kind::kShort : static_cast<Kind>(fields.form);
  MessagePacket head = head_to(to, Type::kReply);
  head.head.handler = fields.handler;
  head.head.detail = link::make_detail(kind, request, Opcode::kReply);
  take_credits(to, head);
  const std::span<const std::byte> arguments(
      packet::arguments(slot_.reply, extension_.reply, kind, fields.words),
      fields.words * packet::kWord);
  switch (kind) {
    case Kind::kShort: return post(port_.link(), to.rank, head, nullptr, arguments, {});
    case Kind::kMedium:
      return post(port_.link(), to.rank, head, nullptr, arguments,
                  {reply_payload_.data(), packet::medium_bytes(slot_.reply)});
    case Kind::kLong: return send_long_reply(to, head, arguments);
  }
}

void Endpoint::Far::send_long_reply(Incoming& to, MessagePacket head,
                                    std::span<const std::byte> arguments) {
  const packet::Placement placement = packet::placement(slot_.reply);
  const Place place{placement.offset, placement.bytes};
  if (placement.written == 0) return post(port_.link(), to.rank, head, &place, arguments, {});
  if (place.bytes <= link::kMaxData) {
    head.head.detail |= link::make_detail(Kind::kShort, Kind::kShort, Opcode::kRequest, true);
    return post(port_.link(), to.rank, head, &place, arguments,
                {reply_payload_.data(), place.bytes});
  }
  const LongPacket packet(head, place, arguments);
  port_.transfers().start_swap(to.rank, to.extent.read().offset + place.offset, long_reply_,
                               packet.span());
}

void Endpoint::Far::place_reply(const Correspondent& from, std::uint64_t offset,
                                std::span<const std::byte> payload) {
  const bool fits = from.extent->read().holds(offset, payload.size());
  packet::put_placement(slot_.reply, {offset, payload.size(), fits});
  if (!fits) return;
  if (payload.size() <= link::kMaxData) {
    packet::copy_payload(reply_payload_.data(), payload);
  } else {
    long_reply_.assign(payload.begin(), payload.end());
  }
}

void Endpoint::Far::introduce(Rank to, MessagePacket head, Tag tag) {
  link::Introduction packet{head, tag, endpoint_.extent_.offset, endpoint_.extent_.bytes};
  packet.message.head.bytes = sizeof packet;
  port_.link().send(to, std::as_bytes(std::span(&packet, 1)));
}

}  // namespace am
