// What an endpoint sends to endpoints of other nodes.

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "am/core/far/far.h"
#include "am/types/object_pool.h"
#include "am/types/shared_words.h"

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

// A packet with `head`, for which the sizes are filled in. `room(bytes)` says where it goes.
template <class Room>
void assemble(MessagePacket head, const Place* place, std::span<const std::byte> arguments,
              std::span<const std::byte> payload, const Room& room) {
  const auto argument_bytes = static_cast<std::uint32_t>(arguments.size());
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  const auto bytes =
      static_cast<std::uint32_t>(sizeof head + (place == nullptr ? 0 : sizeof *place) +
                                 link::rounded(argument_bytes) + link::rounded(payload_bytes));
  head.head.bytes = static_cast<std::uint16_t>(bytes);
  head.head.data_bytes = static_cast<std::uint16_t>(payload_bytes);
  head.head.words = static_cast<std::uint8_t>(argument_bytes / packet::kWord);
  Writer packet(room(bytes));
  packet.put(&head, sizeof head);
  if (place != nullptr) packet.put(place, sizeof *place);
  packet.put(arguments.data(), arguments.size());
  packet.put(payload.data(), payload.size());
}

void post(link::Link& link, Rank to, const MessagePacket& head, const Place* place,
          std::span<const std::byte> arguments, std::span<const std::byte> payload,
          bool more = false) {
  assemble(head, place, arguments, payload,
           [&](std::uint32_t bytes) { return link.claim(to, bytes); });
  link.commit(to, more ? link::Next::kSoon : link::Next::kUnknown);
}

// A long message without its payload, which is written separately.
struct LongPacket {
  LongPacket(const MessagePacket& head, const Place& place,
             std::span<const std::byte> arguments) noexcept {
    assemble(head, &place, arguments, {}, [this](std::uint32_t needed) {
      bytes = needed;
      return data.data();
    });
  }
  std::span<const std::byte> span() const noexcept { return {data.data(), bytes}; }

  std::array<std::byte, Transfers::kMaxPacket> data{};
  std::size_t bytes = 0;
};

}  // namespace

[[gnu::always_inline]] inline MessagePacket FarEndpoint::head_to(std::uint32_t serial,
                                                                 std::uint32_t index,
                                                                 Type type) const noexcept {
  MessagePacket message{};
  message.head = link::make_header(type, sizeof message);
  message.to = serial;
  message.from = parts_.name.serial;
  message.index = index;
  return message;
}

MessagePacket FarEndpoint::head_to(const Receiver& to, std::uint32_t index,
                                   Type type) const noexcept {
  MessagePacket message = head_to(to.serial, index & (link::kMaxIndices - 1), type);
  message.epoch = epochs_.current();
  return message;
}

MessagePacket FarEndpoint::head_to(const Sender& to, Type type) const noexcept {
  return head_to(to.serial, to.index, type);
}

// Counts a request that has left.
[[gnu::always_inline]] inline void FarEndpoint::count_sent(Receiver& to, const MessagePacket& head,
                                                           const UntypedRequest& request) {
  if (to.kept) [[unlikely]]
    keep(to, head, request);
  ++to.in_flight[static_cast<std::size_t>(request.kind)];
  if (request.role == Role::kOneWay) {
    ++parts_.stats[request.kind].one_way_sent;
  } else {
    ++parts_.stats[request.kind].requests_sent;
    epochs_.sent();
    to.answers.one_more();
  }
}

void FarEndpoint::sent(Receiver& to, const MessagePacket& head, const UntypedRequest& request) {
  count_sent(to, head, request);
}

bool FarEndpoint::try_send(std::uint32_t to, const UntypedRequest& request, bool* released) {
  const Port::Lock network(port_);
  Receiver& out = receiver(to);
  const int kind = static_cast<int>(request.kind);
  if (out.in_flight[kind] == kWindow[kind] || port_.link().queue(out.rank) == link::Queue::kFull)
    return false;
  MessagePacket head =
      head_to(out, to, request.role == Role::kOneWay ? Type::kOneWay : Type::kRequest);
  head.head.handler = request.handler;
  const bool is_long = request.kind == Kind::kLong;
  if (is_long && request.payload.size() > link::kMaxData) {
    if (!send_long(out, to, head, request, released)) return false;
  } else if (!is_long || !send_together(out, head, request, released)) {
    head.head.detail = link::make_detail(request.kind, request.kind, Role::kRequest, is_long);
    const Place place{request.offset, request.payload.size(), 0};
    post(port_.link(), out.rank, head, is_long ? &place : nullptr, std::as_bytes(request.arguments),
         request.payload, messages_.more_to_come);
    if (released != nullptr) release(*released);
  }
  count_sent(out, head, request);
  return true;
}

// Without the payload of a long message, which does not come back. One to the dead has not been
// sent.
void FarEndpoint::keep(Receiver& to, MessagePacket head, const UntypedRequest& request) {
  const bool is_long = request.kind == Kind::kLong;
  head.head.detail = link::make_detail(request.kind, request.kind, request.role);
  const Place place{request.offset, request.payload.size(), Extent::kElsewhere};
  assemble(head, is_long ? &place : nullptr, std::as_bytes(request.arguments),
           is_long ? std::span<const std::byte>() : request.payload, [&](std::uint32_t bytes) {
             std::vector<std::byte>& packet = to.kept->add(request.kind, request.role);
             packet.resize(bytes);
             return packet.data();
           });
  if (is_dead(to.rank)) return_with_next_poll();
}

// Writes the payload before the packet. False: not known yet whether it is admitted.
bool FarEndpoint::send_long(Receiver& to, std::uint32_t index, MessagePacket head,
                            const UntypedRequest& request, bool* released) {
  if (is_dead(to.rank)) {
    if (released != nullptr) release(*released);
    return true;
  }
  const Shape shape =
      make_shape(request.role, request.kind, static_cast<std::uint32_t>(request.arguments.size()));
  const auto verdict =
      judge(to, index, {request.handler, shape, request.offset, request.payload.size()});
  if (!verdict) return false;
  head.head.detail = link::make_detail(request.kind, request.kind);
  head.status = static_cast<std::uint8_t>(verdict->status);
  Place place{request.offset, request.payload.size(), verdict->at - request.offset};
  const bool returns = verdict->status != Status::kDelivered;
  if (returns || Extent::is_elsewhere(verdict->at) || to.kept) {
    if (!returns) {
      place.base = Extent::kElsewhere;
      send_fragments(to.rank, head, Role::kRequest, request.payload);
    }
    post(port_.link(), to.rank, head, &place, std::as_bytes(request.arguments), {});
    if (released != nullptr) release(*released);
    return true;
  }
  const LongPacket packet(head, place, std::as_bytes(request.arguments));
  if (released != nullptr) {
    messages_.transfers().start(to.rank, verdict->at, request.payload, packet.span(), *released);
  } else {
    messages_.transfers().start_copy(to.rank, verdict->at, request.payload, packet.span());
  }
  return true;
}

// Of a payload that would fit a packet. False: it should go there, and be judged by the receiver.
bool FarEndpoint::send_together(const Receiver& to, MessagePacket head,
                                const UntypedRequest& request, bool* released) {
  if (request.payload.size() <= Sizes::kCarried || to.kept || !to.known || to.gone) return false;
  Transfers& transfers = messages_.transfers();
  if (!transfers.goes_together(to.rank, request.payload.size())) return false;
  const Shape shape =
      make_shape(request.role, request.kind, static_cast<std::uint32_t>(request.arguments.size()));
  const Verdict verdict = to.known->judge(
      {request.handler, shape, request.offset, request.payload.size()}, to.known->admits);
  if (verdict.status != Status::kDelivered || Extent::is_elsewhere(verdict.at)) return false;
  head.head.detail = link::make_detail(request.kind, request.kind);
  const Place place{request.offset, request.payload.size(), verdict.at - request.offset};
  const LongPacket packet(head, place, std::as_bytes(request.arguments));
  return transfers.try_together(to.rank, verdict.at, request.payload, packet.span(), released);
}

void FarEndpoint::send_fragments(Rank to, MessagePacket head, Role role,
                                 std::span<const std::byte> payload) {
  head.head.type = Type::kFragment;
  head.head.detail = link::make_detail(Kind::kMedium, Kind::kMedium, role);
  head.credits = 0;  // the message has them
  head.head.detail |= link::kFirstFragment;
  while (!payload.empty()) {
    const std::span<const std::byte> fragment =
        payload.first(std::min<std::size_t>(payload.size(), link::kMaxData));
    post(port_.link(), to, head, nullptr, {}, fragment);
    payload = payload.subspan(fragment.size());
    head.head.detail &= static_cast<std::uint8_t>(~link::kFirstFragment);
  }
}

// One-way requests read are reported with whatever goes to the requester.
std::uint16_t FarEndpoint::take_credits(Sender& to) noexcept {
  const auto [shorts, mediums, longs] = std::exchange(to.unreported, {});
  return link::pack_credits(shorts, mediums, longs);
}

void FarEndpoint::send_credits(Sender& to, bool flushed) {
  const Port::Lock network(port_);
  MessagePacket head = head_to(to, Type::kCredits);
  head.head.detail = flushed ? link::kFlushed : 0;
  head.credits = take_credits(to);
  post(port_.link(), to.rank, head, nullptr, {}, {});
}

// What the handler of a request of kind `request` has left.
void FarEndpoint::send_reply(Sender& to, Kind request, shmem::Mark reply, Answering& answering) {
  const Port::Lock network(port_);
  const packet::ReplyMark fields = packet::ReplyMark::of(reply);
  const Kind kind = fields.handler == 0 ? Kind::kShort : fields.kind;
  MessagePacket head = head_to(to, Type::kReply);
  head.head.handler = fields.handler;
  head.head.detail = link::make_detail(kind, request, Role::kReply);
  head.credits = take_credits(to);
  head.epoch = answering.long_reply.epoch;
  const shmem::Room room = answering.room();
  const std::byte* const payload = room.reply_payload();
  const std::span<const std::byte> arguments(packet::reply_arguments(room, kind, fields.words),
                                             fields.words * packet::kWord);
  switch (kind) {
    case Kind::kShort: return post(port_.link(), to.rank, head, nullptr, arguments, {});
    case Kind::kMedium:
      return post(port_.link(), to.rank, head, nullptr, arguments,
                  {payload, packet::medium_bytes(room.slot->reply)});
    case Kind::kLong: return send_long_reply(to, head, arguments, answering.long_reply, payload);
  }
}

void FarEndpoint::send_long_reply(Sender& to, MessagePacket head,
                                  std::span<const std::byte> arguments, LongReply& reply,
                                  const std::byte* payload) {
  Place& place = reply.place;
  head.status = static_cast<std::uint8_t>(reply.status);
  if (reply.status != Status::kDelivered) {
    return post(port_.link(), to.rank, head, &place, arguments, {});
  }
  if (place.bytes <= link::kMaxData) {
    if (send_together(to, head, arguments, place, payload)) return;
    place.base = 0;
    head.head.detail |= link::make_detail(Kind::kShort, Kind::kShort, Role::kRequest, true);
    return post(port_.link(), to.rank, head, &place, arguments, {payload, place.bytes});
  }
  if (survives()) place.base = Extent::kElsewhere;
  if (Extent::is_elsewhere(place.base)) {
    try {
      send_fragments(to.rank, head, Role::kReply, reply.payload);
    } catch (const std::exception&) {  // no memory: the reply comes back, and no credit is lost
      head.status = static_cast<std::uint8_t>(Status::kCongestion);
    }
    reply.drop();
    return post(port_.link(), to.rank, head, &place, arguments, {});
  }
  const LongPacket packet(head, place, arguments);
  const std::uint64_t offset = place.base + place.offset;
  if (bool* const released = std::exchange(reply.released, nullptr)) {
    messages_.transfers().start(to.rank, offset, reply.payload, packet.span(), *released);
  } else {
    messages_.transfers().start_swap(to.rank, offset, reply.copy, packet.span());
  }
}

// By what the requester had announced before its request.
Verdict far::LongReply::judge(const LongRequest& message) const noexcept {
  const bool same_tag = epoch == to->epoch || epoch == 0;
  return to->announced.judge(message, same_tag || to->announced.admits);
}

// A reply's payload and packet together, as a request's are.
bool FarEndpoint::send_together(const Sender& to, const MessagePacket& head,
                                std::span<const std::byte> arguments, const Place& place,
                                const std::byte* payload) {
  if (Extent::is_elsewhere(place.base) || survives()) return false;
  Transfers& transfers = messages_.transfers();
  if (!transfers.goes_together(to.rank, place.bytes)) return false;
  const LongPacket packet(head, place, arguments);
  return transfers.try_together(to.rank, place.base + place.offset, {payload, place.bytes},
                                packet.span(), nullptr);
}

void far::LongReply::drop() noexcept {
  if (released != nullptr) release(*std::exchange(released, nullptr));
  clear_kept(copy);
}

void FarEndpoint::place_reply(const Delivery& delivery, const LongRequest& message,
                              std::span<const std::byte> payload, bool* released) {
  LongReply& reply = Answering::of(delivery.room).long_reply;
  if (payload.size() <= link::kMaxData) {  // goes in the packet, and is judged there
    reply.place = {message.offset, message.bytes, Extent::kElsewhere};
    if (payload.size() >
        Sizes::kCarried) {  // ... unless it is admitted, and can go together with it
      const Verdict verdict = reply.judge(message);
      if (verdict.status == Status::kDelivered) reply.place.base = verdict.at - message.offset;
    }
    reply.status = Status::kDelivered;
    packet::copy_payload(delivery.room.reply_payload(), payload);
    if (released != nullptr) release(*released);
    return;
  }
  const Verdict verdict = reply.judge(message);
  if (verdict.status != Status::kDelivered) {
    if (released != nullptr) release(*released);
  } else if (released != nullptr) {
    reply.payload = payload;
    reply.released = released;
  } else {
    reply.copy.assign(payload.begin(), payload.end());  // first, as it may throw
    reply.payload = reply.copy;
  }
  reply.status = verdict.status;
  reply.place = {message.offset, message.bytes, verdict.at - message.offset};
}

void FarEndpoint::introduce(const Receiver& to, std::uint32_t index, std::uint8_t detail) {
  introduce(to.rank, head_to(to, index, Type::kExtent), detail);
}

void FarEndpoint::introduce(const Sender& to, std::uint8_t detail) {
  introduce(to.rank, head_to(to, Type::kExtent), detail | (to.from.admitted ? link::kAdmits : 0));
}

void FarEndpoint::introduce(Rank to, MessagePacket head, std::uint8_t detail, Tag tag) {
  std::array<std::uint32_t, kHandlers> handlers;
  std::size_t count = 0;
  for (std::size_t index = 0; index < kHandlers; ++index) {
    const HandlerEntry& entry = parts_.handlers[static_cast<HandlerIndex>(index)];
    if (!takes_long(entry.shape)) continue;
    handlers[count++] = link::make_long_handler(static_cast<HandlerIndex>(index), entry.shape);
  }
  const bool from_requester =
      head.head.type == Type::kHello || (detail & link::kFromRequester) != 0;
  if (from_requester && parts_.admission.tag() == kTagAll) detail |= link::kAdmits;
  const auto data_bytes = static_cast<std::uint32_t>(count * sizeof handlers[0]);
  const auto bytes =
      static_cast<std::uint32_t>(sizeof(link::Introduction)) + link::rounded(data_bytes);
  head.head.bytes = static_cast<std::uint16_t>(bytes);
  head.head.data_bytes = static_cast<std::uint16_t>(data_bytes);
  head.head.detail = detail;
  const link::Introduction packet{head, tag, parts_.admission.extent.offset,
                                  parts_.admission.extent.bytes, parts_.name.mailbox};
  const Port::Lock network(port_);
  Writer writer(port_.link().claim(to, bytes));
  writer.put(&packet, sizeof packet);
  writer.put(handlers.data(), data_bytes);
  port_.link().commit(to);
}

}  // namespace am
