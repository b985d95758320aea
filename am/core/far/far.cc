#include "am/core/far/far.h"

#include <algorithm>
#include <cstring>

#include "am/types/forked.h"

namespace am {

using link::MessagePacket;

Endpoint::Far::Far(Endpoint& endpoint, FarMessages& messages)
    : endpoint_(endpoint),
      messages_(messages),
      port_(messages.port()),
      outgoing_(endpoint.translations()) {
  messages_.attach(endpoint, endpoint.name().serial);
}

// Leaves those it sends to and those who send to it, without waiting.
Endpoint::Far::~Far() {
  if (is_forked()) return;
  for (const auto& [index, made] : all_outgoing_) {
    const Outgoing& out = *made;
    const bool asks = !out.all_read();
    messages_.leave_flushes(out.rank, out.flushes + (asks ? 1 : 0));
    if (asks) messages_.send_last(out.rank, head_to(out, index, link::Type::kFlush));
    messages_.send_last(out.rank, head_to(out, index, link::Type::kGoodbye));
  }
  for (auto& [key, from] : incoming_) {
    MessagePacket packet = head_to(*from, link::Type::kGone);
    packet.credits = take_credits(*from);
    messages_.send_last(from->rank, packet);
  }
  messages_.detach(endpoint_.name().serial);
}

Endpoint::Far::Outgoing& Endpoint::Far::outgoing(std::uint32_t to) {
  if (outgoing_[to] != nullptr) [[likely]]
    return *outgoing_[to];
  const Translation& entry = endpoint_.translations_.entry(to);
  Outgoing& made = *all_outgoing_.emplace(to, std::make_unique<Outgoing>(port_)).first->second;
  outgoing_[to] = &made;
  made.rank = entry.name.rank;
  made.serial = entry.name.serial;
  made.peer = {entry.name, entry.tag, true, nullptr, nullptr, {}};
  if (survives()) made.kept = std::make_unique<KeptRequests>();
  introduce(made.rank, head_to(made, to, link::Type::kHello), 0, entry.tag);
  made.answers.one_more();
  if (is_dead(made.rank)) return_with_next_poll();  // no answer comes
  return made;
}

Endpoint::Far::Outgoing* Endpoint::Far::find_outgoing(Rank from,
                                                      const MessagePacket& message) noexcept {
  if (message.index >= outgoing_.size() || outgoing_[message.index] == nullptr) return nullptr;
  Outgoing& found = *outgoing_[message.index];
  return found.rank == from && found.serial == message.from ? &found : nullptr;
}

Endpoint::Far::Incoming* Endpoint::Far::find_incoming(Rank from,
                                                      const MessagePacket& message) noexcept {
  const Key wanted{from, message.from, message.index};
  if (last_incoming_ != nullptr && last_key_ == wanted) return last_incoming_;
  const auto found = incoming_.find(wanted);
  if (found == incoming_.end()) return nullptr;
  last_key_ = wanted;
  return last_incoming_ = found->second.get();
}

std::uint32_t Endpoint::Far::in_flight(std::uint32_t to, Kind kind) const noexcept {
  return outgoing_[to] != nullptr ? outgoing_[to]->in_flight[static_cast<int>(kind)] : 0;
}

void Endpoint::Far::tag_changed() {
  for (auto& [key, from] : incoming_) from->from.admitted = endpoint_.admits(from->from.tag);
  announce();
}

// An endpoint without long handlers admits no long message, whatever else changes; the others know
// that from its introduction.
void Endpoint::Far::announce() {
  if (!endpoint_.handlers_.has_had_long()) return;
  for (const auto& [index, out] : all_outgoing_) introduce(*out, index, link::kFromRequester);
  for (const auto& [key, from] : incoming_) introduce(*from, 0);
}

}  // namespace am
