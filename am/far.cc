#include "am/far.h"

#include <algorithm>

namespace am {

Endpoint::Far::Far(Endpoint& endpoint, Port& port)
    : endpoint_(endpoint), port_(port), outgoing_(endpoint.translations()) {
  port_.attach(endpoint, endpoint.name().serial);
}

Endpoint::Far::~Far() { port_.detach(endpoint_.name().serial); }

Endpoint::Far::Outgoing& Endpoint::Far::outgoing(std::uint32_t to) {
  if (outgoing_[to]) [[likely]]
    return *outgoing_[to];
  const Translation& entry = endpoint_.translations_[to];
  outgoing_[to] =
      std::make_unique<Outgoing>(Outgoing{entry.name.rank, entry.name.serial, {}, {}, false, {}});
  Outgoing& made = *outgoing_[to];
  made.peer = {entry.name, entry.tag, true, nullptr, nullptr};
  introduce(made.rank, head_to(made, to, link::Type::kHello), entry.tag);
  port_.await();  // its answer
  return made;
}

Endpoint::Far::Outgoing* Endpoint::Far::find_outgoing(Rank from,
                                                      const link::MessagePacket& message) noexcept {
  if (message.index >= outgoing_.size() || !outgoing_[message.index]) return nullptr;
  Outgoing& found = *outgoing_[message.index];
  return found.rank == from && found.serial == message.from ? &found : nullptr;
}

Endpoint::Far::Incoming* Endpoint::Far::find_incoming(Rank from,
                                                      const link::MessagePacket& message) noexcept {
  const std::uint64_t wanted = key(from, message.from, message.index);
  if (last_incoming_ != nullptr && last_key_ == wanted) return last_incoming_;
  const auto found = incoming_.find(wanted);
  if (found == incoming_.end()) return nullptr;
  last_key_ = wanted;
  return last_incoming_ = found->second.get();
}

std::uint32_t Endpoint::Far::in_flight(std::uint32_t to, Kind kind) const noexcept {
  return outgoing_[to] ? outgoing_[to]->in_flight[static_cast<int>(kind)] : 0;
}

void Endpoint::Far::close(std::uint32_t index) {
  if (!outgoing_[index]) return;
  Outgoing& out = *outgoing_[index];
  Bundle& bundle = endpoint_.bundle();
  // The answer to the introduction is awaited too, so that it does not meet the next one's.
  bundle.wait_until([&] { return out.extent && !port_.transfers().owes(out.rank); });
  const auto send = [&](link::Type type) {
    link::MessagePacket packet = head_to(out, index, type);
    packet.head.bytes = sizeof packet;
    port_.link().send(out.rank, std::as_bytes(std::span(&packet, 1)));
  };
  const auto all_read = [&] {
    return std::ranges::all_of(out.in_flight, [](std::uint32_t n) { return n == 0; });
  };
  // Nothing of this translation is on its way any more once the flush has been answered and
  // everything has been read: what comes next is of the translation that has this index next.
  send(link::Type::kFlush);
  port_.await();
  bundle.wait_until([&] { return out.flushed && all_read(); });
  port_.arrived();
  send(link::Type::kGoodbye);
  outgoing_[index].reset();
}

void Endpoint::Far::set_tag() noexcept {
  for (auto& [key, from] : incoming_) from->from.admitted = endpoint_.admits(from->from.tag);
}

void Endpoint::Far::set_extent() {
  for (std::uint32_t index = 0; index < outgoing_.size(); ++index) {
    if (!outgoing_[index]) continue;
    const Outgoing& to = *outgoing_[index];
    introduce(to.rank, head_to(to, index, link::Type::kExtent), endpoint_.tag());
  }
  for (auto& [key, from] : incoming_) {
    introduce(from->rank, head_to(*from, link::Type::kExtent), endpoint_.tag());
  }
}

}  // namespace am
