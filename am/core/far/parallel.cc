// What comes from other nodes for a parallel bundle, whose threads handle it at the same time.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/far/messages.h"

namespace am {

using link::MessagePacket;
using link::Type;

// --- Whose turn it is

// Whether `message` is of a translation that sends to this endpoint; else it is of one of its own.
static bool is_to_receiver(const MessagePacket& message) noexcept {
  const std::uint8_t detail = message.head.detail;
  const bool was_reply = link::role_bits(detail) == static_cast<unsigned>(Role::kReply);
  switch (message.head.type) {
    case Type::kRequest:
    case Type::kOneWay:
    case Type::kFlush:
    case Type::kHello:
    case Type::kGoodbye: return true;
    case Type::kExtent: return (detail & link::kFromRequester) != 0;
    case Type::kReturned: return was_reply;
    case Type::kPiece: return !was_reply;
    default: return false;
  }
}

// The mark of the translation that `message` is of; nullptr: that is not known here (any more).
bool* Endpoint::Far::turn_of(Rank from, const MessagePacket& message) noexcept {
  if (is_to_receiver(message)) {
    Incoming* const sender = find_incoming(from, message);
    return sender != nullptr ? &sender->in_turn : nullptr;
  }
  Outgoing* const sender = find_outgoing(from, message);
  return sender != nullptr ? &sender->in_turn : nullptr;
}

bool Endpoint::Far::in_turn(Rank from, const MessagePacket& message) noexcept {
  if (turns_ == 0) [[likely]]
    return false;
  const bool* const mark = turn_of(from, message);
  return mark != nullptr && *mark;
}

// The translation stays until then: what would end it is a later message of it, or waits for its
// turn to end, or for the endpoint's visitors.
Endpoint::Far::Turn::Turn(Far& far, Rank from, const MessagePacket& message) noexcept
    : far_(far), mark_(far.turn_of(from, message)) {
  if (mark_ == nullptr) return;
  *mark_ = true;
  ++far_.turns_;
}

Endpoint::Far::Turn::~Turn() {
  if (mark_ == nullptr) return;
  *mark_ = false;
  --far_.turns_;
}

// --- What was put aside

int FarMessages::poll_among_threads(Bundle& bundle, bool spinning) {
  if (!spinning || port_.worth_a_look()) {
    const Bundle::Unlocked others(bundle);
    const Port::TryInside inside(port_);
    if (inside) port_.poll();  // else another thread does
  }
  return deliver_among_threads(bundle);
}

bool FarMessages::fetch_among_threads(Bundle& bundle) {
  {
    const Bundle::Unlocked others(bundle);
    const Port::Inside inside(port_);
    port_.fetch();
  }
  while (const auto taken = take_among_threads(bundle, true)) deliver_among_threads(*taken);
  return has_late_among_threads(bundle);
}

// Inside, and locked. (Its endpoint is still there: detach() would have refused the message.)
bool FarMessages::may_be_taken(Bundle& bundle, const Late& late) const noexcept {
  Endpoint& endpoint = *find(late.packet()).endpoint;
  if (endpoint.left_) return false;
  const auto& message = reinterpret_cast<const MessagePacket&>(late.packet());
  if (!endpoint.far().in_turn(late.from, message)) return true;
  bundle.left_out_ = true;
  return false;
}

// A message for an endpoint that is held counts, too: that is not for long, and nobody is woken.
bool FarMessages::has_late_among_threads(Bundle& bundle) const noexcept {
  const Port::Inside inside(port_);
  const auto queue = late_.find(&bundle);
  return queue != late_.end() && std::ranges::any_of(queue->second, [&](const Late& late) {
           return may_be_taken(bundle, late);
         });
}

// The oldest that may be handled now.
std::optional<FarMessages::Taken> FarMessages::take_among_threads(Bundle& bundle,
                                                                  bool without_handler) {
  return take_late(bundle, without_handler, [&](const Late& one) {
    return !find(one.packet()).endpoint->held() && may_be_taken(bundle, one);
  });
}

int FarMessages::deliver_among_threads(Bundle& bundle) {
  int count = 0;
  for (std::size_t there = late_of(bundle); there != 0; --there, ++count) {
    const std::optional<Taken> taken = take_among_threads(bundle, false);
    if (!taken) break;
    Bundle::thread().active = taken->endpoint;
    deliver_among_threads(*taken);
  }
  return count;
}

// The endpoint stays, as it has a visitor.
void FarMessages::deliver_among_threads(const Taken& taken) {
  const auto& [late, endpoint] = taken;
  if (is_dead(late.from)) return;
  const auto& message = reinterpret_cast<const MessagePacket&>(late.packet());
  const Bundle::Count visit(endpoint->visits_);
  std::optional<Endpoint::Far::Turn> turn;
  if (is_for_poll(message.head)) turn.emplace(endpoint->far(), late.from, message);
  if (!endpoint->far().deliver<Endpoint::AnyThread>(late.from, message)) {
    port_.refuse(late.from, message.head);
  }
}

}  // namespace am
