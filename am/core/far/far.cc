#include "am/core/far/far.h"

#include <algorithm>
#include <cstring>

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
  if (survives()) made.kept = std::make_unique<KeptRequests>();
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

}  // namespace am
