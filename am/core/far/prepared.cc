// Medium requests whose payload is written into the frame that leaves.
//
// The arguments are known last, so the payload lies behind room for as many as there can be
// (Body::read() takes either). The thread stays inside the port until the end, so that no other one
// begins a packet meanwhile, and finds out whether it has itself begun one: each either leaves at
// once, and is counted, or moves the place where the next one begins.

#include <cstring>

#include "am/core/far/far.h"
#include "am/core/untyped.h"

namespace am {
namespace {

using link::MessagePacket;

constexpr std::uint32_t kBeforePayload =
    sizeof(MessagePacket) + static_cast<std::uint32_t>(kMaxArgumentBytes);

std::uint32_t packet_bytes(std::size_t payload) noexcept {
  return kBeforePayload + link::rounded(static_cast<std::uint32_t>(payload));
}

}  // namespace

std::optional<std::byte*> FarEndpoint::try_prepare(std::uint32_t to, std::size_t most) {
  const Port::Lock network(port_);
  Receiver& out = receiver(to);
  constexpr auto kMedium = static_cast<std::size_t>(Kind::kMedium);
  link::Link& link = port_.link();
  if (out.in_flight[kMedium] == kWindow[kMedium] || link.queue(out.rank) == link::Queue::kFull) {
    return std::nullopt;
  }
  if (!network.alone() || !link.can().keeps_claims || messages_.lends_frame()) return nullptr;
  const std::uint32_t bytes = packet_bytes(most);
  prepared_ = {link.claim(out.rank, bytes), bytes, link.stats().sent.sends};
  messages_.lend_frame(true);
  port_.enter();
  return prepared_.packet + kBeforePayload;
}

bool FarEndpoint::send_prepared(std::uint32_t to, const UntypedRequest& request) {
  Receiver& out = receiver(to);
  link::Link& link = port_.link();
  if (link.stats().sent.sends != prepared_.sent ||
      link.claim(out.rank, prepared_.bytes) != prepared_.packet) {
    return false;
  }
  const bool one_way = request.role == Role::kOneWay;
  MessagePacket head = head_to(out, to, one_way ? link::Type::kOneWay : link::Type::kRequest);
  const std::uint32_t bytes = packet_bytes(request.payload.size());
  head.head.bytes = static_cast<std::uint16_t>(bytes);
  head.head.data_bytes = static_cast<std::uint16_t>(request.payload.size());
  head.head.words = static_cast<std::uint8_t>(request.arguments.size());
  head.head.handler = request.handler;
  head.head.detail = link::make_detail(Kind::kMedium, Kind::kMedium, Role::kRequest);
  std::byte* const packet = link.claim(out.rank, bytes);
  std::memcpy(packet, &head, sizeof head);
  std::memset(packet + sizeof head, 0, kMaxArgumentBytes);
  packet::copy_payload(packet + sizeof head, std::as_bytes(request.arguments));
  link.commit(out.rank);
  sent(out, head, request);
  return true;
}

void FarEndpoint::drop_prepared() noexcept {
  messages_.lend_frame(false);
  port_.leave();
}

}  // namespace am
