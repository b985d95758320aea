#include "am/core/far_messages.h"

#include <cstring>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/far.h"
#include "am/core/process.h"

namespace am {
namespace {

using link::Type;

// Those that may run a handler, which is for poll() to do.
bool is_for_poll(const link::PacketHeader& packet) noexcept {
  return packet.type == Type::kRequest || packet.type == Type::kOneWay ||
         packet.type == Type::kReply || packet.type == Type::kReturned;
}

// Says whose poll it is for as long as it lives.
template <class Of>
class Turn {
 public:
  Turn(Of*& whose, Of& bundle) noexcept : whose_(whose) { whose_ = &bundle; }
  ~Turn() { whose_ = nullptr; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Of*& whose_;
};

}  // namespace

FarMessages::FarMessages(const Process& process, Port& port, Transfers& transfers)
    : process_(process), port_(port), transfers_(transfers) {
  for (const Type type :
       {Type::kHello, Type::kExtent, Type::kRequest, Type::kOneWay, Type::kReply, Type::kReturned,
        Type::kCredits, Type::kFlush, Type::kGoodbye, Type::kGone}) {
    port_.add(type, *this);
  }
  port_.add(static_cast<Resumed&>(*this));
}

void FarMessages::attach(Endpoint& endpoint, std::uint32_t serial) {
  endpoints_[serial] = &endpoint;
}

void FarMessages::detach(std::uint32_t serial) {
  endpoints_.erase(serial);
  for (auto& [bundle, queue] : late_) {
    std::erase_if(queue, [&](const Late& late) {
      const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
      if (message.to != serial) return false;
      refuse_unknown(late.from, message);
      return true;
    });
  }
  std::erase_if(late_, [](const auto& entry) { return entry.second.empty(); });
}

int FarMessages::poll(Bundle& bundle) {
  const Turn<Bundle> turn(polling_, bundle);
  int count = 0;
  if (!late_.empty()) [[unlikely]]
    count = deliver_late(bundle);
  return count + port_.poll();
}

bool FarMessages::fetch(const Bundle& bundle) {
  const Turn<const Bundle> turn(fetching_, bundle);
  return port_.fetch() || late_.contains(&bundle);
}

void FarMessages::resume() {
  if (lasts_.empty()) [[likely]]
    return;
  const std::vector<Last> lasts = std::exchange(lasts_, {});
  for (const auto& [to, packet] : lasts) send_last(to, packet);
}

void FarMessages::send_last(Rank to, const link::MessagePacket& packet) {
  if (process_.has_left()) return;
  if (transfers_.owes(to)) {
    lasts_.push_back({to, packet});
  } else {
    port_.link().send(to, std::as_bytes(std::span(&packet, 1)));
  }
}

// From and to no endpoint: the answer comes to refuse_unknown().
void FarMessages::flush_returned(Rank to) {
  constexpr std::uint32_t kNoEndpoint = ~0u;
  link::MessagePacket packet{};
  packet.head = link::make_header(Type::kFlush, sizeof packet);
  packet.to = packet.from = kNoEndpoint;
  port_.link().send(to, std::as_bytes(std::span(&packet, 1)));
  ++flushes_left_;
}

Endpoint* FarMessages::find(const link::PacketHeader& message) const noexcept {
  const auto* const packet = link::as<link::MessagePacket>(message);
  const auto found = packet != nullptr ? endpoints_.find(packet->to) : endpoints_.end();
  return found != endpoints_.end() ? found->second : nullptr;
}

bool FarMessages::keeps(const link::PacketHeader& packet) const noexcept {
  if (!is_for_poll(packet)) return false;
  const Endpoint* const endpoint = find(packet);
  return fetching_ == nullptr || (endpoint != nullptr && &endpoint->bundle() == fetching_);
}

// For an endpoint that has ended, or none.
void FarMessages::refuse_unknown(Rank from, const link::MessagePacket& message) {
  const bool flushed = message.head.type == Type::kCredits && message.head.detail == link::kFlushed;
  if (flushed && flushes_left_ != 0) --flushes_left_;
  Endpoint::Far::refuse_unknown(port_.link(), from, message);
  const bool goes_back = message.head.type == Type::kReply && message.head.handler != 0;
  if (goes_back && !process_.has_left()) flush_returned(from);
}

bool FarMessages::take(Rank from, const link::PacketHeader& packet) {
  const auto* const message = link::as<link::MessagePacket>(packet);
  if (message == nullptr) return false;
  Endpoint* const endpoint = find(packet);
  if (endpoint == nullptr) {
    refuse_unknown(from, *message);
    return true;
  }
  // Behind a message that was put aside, all that comes for the same bundle is, to keep the order.
  const bool handles = is_for_poll(packet);
  if ((handles && &endpoint->bundle() != polling_) ||
      (!late_.empty() && late_.contains(&endpoint->bundle()))) [[unlikely]] {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
    late_[&endpoint->bundle()].push_back({from, {bytes, bytes + packet.bytes}});
    return true;
  }
  return deliver_to(*endpoint, from, *message);
}

bool FarMessages::deliver_to(Endpoint& endpoint, Rank from, const link::MessagePacket& message) {
  if (is_for_poll(message.head)) polling_->active_ = &endpoint;
  return endpoint.far().deliver(from, message);
}

// One after another, as a handler may end endpoints or throw: the rest is for the next poll.
int FarMessages::deliver_late(const Bundle& bundle) {
  const auto found = late_.find(&bundle);
  const std::size_t there = found == late_.end() ? 0 : found->second.size();
  std::size_t count = 0;
  for (auto queue = found; count < there && queue != late_.end(); queue = late_.find(&bundle)) {
    const Late late = std::move(queue->second.front());
    queue->second.pop_front();
    if (queue->second.empty()) late_.erase(queue);
    ++count;
    const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
    Endpoint* const endpoint = find(late.packet());
    if (endpoint == nullptr) {
      refuse_unknown(late.from, message);
    } else if (!deliver_to(*endpoint, late.from, message)) {
      port_.refuse(late.from, message.head);
    }
  }
  return static_cast<int>(count);
}

void FarMessages::left(const Bundle& bundle) {
  const auto found = late_.find(&bundle);
  if (found == late_.end()) return;
  const LateQueue queue = std::move(found->second);
  late_.erase(found);
  for (const Late& late : queue) {
    if (!take(late.from, late.packet())) port_.refuse(late.from, late.packet());
  }
}

}  // namespace am
