// What an endpoint hears of those that it talks to on other nodes: that they begin, change and end.

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "am/core/far/far.h"

namespace am {

using link::MessagePacket;

bool FarEndpoint::deliver_goodbye(Rank from, const MessagePacket& message) {
  last_sender_ = nullptr;
  return senders_.erase({from, message.from, message.index}) == 1;
}

bool FarEndpoint::deliver_gone(Rank from, const MessagePacket& message) {
  Receiver* const to = find_receiver(from, message);
  if (to == nullptr || to->gone) return true;  // it crossed our kGoodbye, or was sent twice
  note_gone(*to);
  credit(*to, message);
  return true;
}

// The other endpoint has ended: no answer of it is to come.
void FarEndpoint::note_gone(Receiver& to) {
  if (!to.known && !to.gone) to.answers.one_came();
  if (std::exchange(to.asking, false)) to.answers.one_came();
  to.gone = true;
}

bool FarEndpoint::deliver_hello(Rank from, const MessagePacket& message) {
  const auto* const hello = link::as<link::Introduction>(message.head);
  if (hello == nullptr) return false;
  auto& made = senders_[{from, message.from, message.index}];
  if (made) return false;
  made = std::make_unique<Sender>();
  made->rank = from;
  made->serial = message.from;
  made->index = message.index;
  const Name name{from, message.from, hello->mailbox};
  made->from = {name, hello->tag, parts_.admission.admits(hello->tag), nullptr, nullptr, {}};
  made->epoch = message.epoch;
  if (!made->announced.read(*hello)) return false;
  introduce(*made, 0);
  return true;
}

bool FarEndpoint::deliver_extent(Rank from, const MessagePacket& message) {
  const auto* const packet = link::as<link::Introduction>(message.head);
  if (packet == nullptr) return false;
  const std::uint8_t detail = message.head.detail;
  if ((detail & link::kFromRequester) != 0) {
    Sender* const sender = find_sender(from, message);
    if (sender == nullptr || !sender->announced.read(*packet)) return false;
    sender->epoch = message.epoch;
    if ((detail & link::kAsks) != 0) introduce(*sender, link::kAnswers);
    return true;
  }
  Receiver* const to = find_receiver(from, message);
  if (to == nullptr) return true;  // a change that crossed our kGoodbye
  if (!to->known && !to->gone) to->answers.one_came();
  if ((detail & link::kAnswers) != 0 && std::exchange(to->asking, false)) to->answers.one_came();
  to->known = far::Announced{};
  return to->known->read(*packet);
}

bool far::Announced::read(const link::Introduction& packet) {
  const std::uint32_t data_bytes = packet.message.head.data_bytes;
  if (packet.message.head.bytes != sizeof packet + link::rounded(data_bytes) ||
      data_bytes % sizeof(std::uint32_t) != 0) {
    return false;
  }
  admits = (packet.message.head.detail & link::kAdmits) != 0;
  extent = {packet.offset, packet.bytes};
  handlers.resize(data_bytes / sizeof(std::uint32_t));
  if (data_bytes != 0) std::memcpy(handlers.data(), &packet + 1, data_bytes);
  return true;
}

void far::Asked::add(const LongRequest& message) {
  if (messages_.size() == kMost) messages_.erase(messages_.begin());
  messages_.push_back(message);
}

bool far::Asked::take(const LongRequest& message) {
  const auto found = std::ranges::find(messages_, message);
  if (found == messages_.end()) return false;
  messages_.erase(found);
  return true;
}

Verdict far::Announced::judge(const LongRequest& message, bool tag_admits) const noexcept {
  if (!tag_admits) return {Status::kBadTag, 0};
  const auto handler =
      std::ranges::find(handlers, message.handler, [](std::uint32_t word) { return word >> 16; });
  const Shape shape = handler == handlers.end() ? kNoShape : static_cast<Shape>(*handler);
  return am::judge(message, shape, extent);
}

}  // namespace am
