// What comes from other nodes for a parallel bundle, whose threads handle it at the same time.

#include "am/core/bundle.h"
#include "am/core/far/far.h"
#include "am/core/far/messages.h"

namespace am {

using link::MessagePacket;
using link::Type;

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
    case Type::kFragment: return !was_reply;
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

// Inside, and locked. (Its endpoint is still there: detach() would have refused the message.)
bool FarMessages::may_be_taken(Bundle& bundle, const Late& late) const noexcept {
  EndpointParts& endpoint = *find(late.packet()).endpoint;
  if (endpoint.threads.left) return false;
  const auto& message = reinterpret_cast<const MessagePacket&>(late.packet());
  if (!endpoint.far->in_turn(late.from, message)) return true;
  bundle.left_out_ = true;
  return false;
}

}  // namespace am
