#include "am/core/far/far.h"

#include <cstring>

#include "am/core/untyped.h"
#include "am/types/forked.h"

namespace am {

using link::MessagePacket;

FarEndpoint::FarEndpoint(EndpointParts& parts, FarMessages& messages)
    : parts_(parts),
      messages_(messages),
      port_(messages.port()),
      receivers_(parts.translations.size()) {
  messages_.attach(parts);
}

// Leaves those it sends to and those who send to it, without waiting.
FarEndpoint::~FarEndpoint() {
  if (is_forked()) return;
  for (const auto& [index, made] : all_receivers_) {
    const Receiver& out = *made;
    const bool asks = !out.all_read();
    messages_.leave_flushes(out.rank, out.flushes + (asks ? 1 : 0));
    if (asks) messages_.send_last(out.rank, head_to(out, index, link::Type::kFlush));
    messages_.send_last(out.rank, head_to(out, index, link::Type::kGoodbye));
  }
  for (auto& [key, from] : senders_) {
    MessagePacket packet = head_to(*from, link::Type::kGone);
    packet.credits = take_credits(*from);
    messages_.send_last(from->rank, packet);
  }
  messages_.detach(parts_.name.serial);
}

FarEndpoint::Receiver& FarEndpoint::receiver(std::uint32_t to) {
  if (receivers_[to] != nullptr) [[likely]]
    return *receivers_[to];
  const Translation& entry = parts_.translations.entry(to);
  Receiver& made = *all_receivers_.emplace(to, std::make_unique<Receiver>(port_)).first->second;
  receivers_[to] = &made;
  made.rank = entry.name.rank;
  made.serial = entry.name.serial;
  made.peer = {entry.name, entry.tag, true, nullptr, nullptr, {}};
  if (survives()) made.kept = std::make_unique<far::KeptRequests>();
  introduce(made.rank, head_to(made, to, link::Type::kHello), 0, entry.tag);
  made.answers.one_more();
  if (is_dead(made.rank)) return_with_next_poll();  // no answer comes
  return made;
}

FarEndpoint::Receiver* FarEndpoint::find_receiver(Rank from,
                                                  const MessagePacket& message) noexcept {
  if (message.index >= receivers_.size() || receivers_[message.index] == nullptr) return nullptr;
  Receiver& found = *receivers_[message.index];
  return found.rank == from && found.serial == message.from ? &found : nullptr;
}

FarEndpoint::Sender* FarEndpoint::find_sender(Rank from, const MessagePacket& message) noexcept {
  const Key wanted{from, message.from, message.index};
  if (last_sender_ != nullptr && last_key_ == wanted) return last_sender_;
  const auto found = senders_.find(wanted);
  if (found == senders_.end()) return nullptr;
  last_key_ = wanted;
  return last_sender_ = found->second.get();
}

std::uint32_t FarEndpoint::in_flight(std::uint32_t to, Kind kind) const noexcept {
  return receivers_[to] != nullptr ? receivers_[to]->in_flight[static_cast<int>(kind)] : 0;
}

void FarEndpoint::tag_changed() {
  for (auto& [key, from] : senders_) from->from.admitted = parts_.admission.admits(from->from.tag);
  announce();
}

// An endpoint without long handlers admits no long message, whatever else changes; the others know
// that from its introduction.
void FarEndpoint::announce() {
  if (!parts_.handlers.has_had_long()) return;
  for (const auto& [index, out] : all_receivers_) introduce(*out, index, link::kFromRequester);
  for (const auto& [key, from] : senders_) introduce(*from, 0);
}

// --- Of a parallel bundle, whose threads handle what comes at the same time.

// Whether `message` is of a translation that sends to this endpoint; else it is of one of its own.
static bool is_to_receiver(const MessagePacket& message) noexcept {
  const std::uint8_t detail = message.head.detail;
  const bool was_reply = link::role_bits(detail) == static_cast<unsigned>(Role::kReply);
  switch (message.head.type) {
    case link::Type::kRequest:
    case link::Type::kOneWay:
    case link::Type::kFlush:
    case link::Type::kHello:
    case link::Type::kGoodbye: return true;
    case link::Type::kExtent: return (detail & link::kFromRequester) != 0;
    case link::Type::kReturned: return was_reply;
    case link::Type::kFragment: return !was_reply;
    default: return false;
  }
}

// The mark of the translation that `message` is of; nullptr: that is not known here (any more).
bool* FarEndpoint::turn_of(Rank from, const MessagePacket& message) noexcept {
  if (is_to_receiver(message)) {
    Sender* const sender = find_sender(from, message);
    return sender != nullptr ? &sender->in_turn : nullptr;
  }
  Receiver* const sender = find_receiver(from, message);
  return sender != nullptr ? &sender->in_turn : nullptr;
}

bool FarEndpoint::in_turn(Rank from, const MessagePacket& message) noexcept {
  if (turns_ == 0) [[likely]]
    return false;
  const bool* const mark = turn_of(from, message);
  return mark != nullptr && *mark;
}

// The translation stays until then: what would end it is a later message of it, or waits for its
// turn to end, or for the endpoint's visitors.
bool* FarEndpoint::begin_turn(Rank from, const MessagePacket& message) noexcept {
  bool* const mark = turn_of(from, message);
  if (mark != nullptr) {
    *mark = true;
    ++turns_;
  }
  return mark;
}

void FarEndpoint::end_turn(bool* mark) noexcept {
  if (mark == nullptr) return;
  *mark = false;
  --turns_;
}

// Medium requests whose payload is written into the frame that leaves.
//
// The arguments are known last, so the payload lies behind room for as many as there can be
// (Body::read() takes either). The thread stays inside the port until the end, so that no other one
// begins a packet meanwhile, and finds out whether it has itself begun one: each either leaves at
// once, and is counted, or moves the place where the next one begins.

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
  if (!network.alone() || !link.can().keeps_claims || messages_.lends_frame) return nullptr;
  const std::uint32_t bytes = packet_bytes(most);
  prepared_ = {link.claim(out.rank, bytes), bytes, link.stats().sent.sends};
  messages_.lends_frame = true;
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
  messages_.lends_frame = false;
  port_.leave();
}

}  // namespace am
