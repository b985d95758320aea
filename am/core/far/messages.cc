#include "am/core/far/messages.h"

#include <algorithm>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/process.h"
#include "am/route/router.h"

namespace am {
namespace {

using link::Type;

}  // namespace

// What has been completed for a bundle by other threads.
class FarMessages::Finished final : public link::Home {
 public:
  Finished(const Bundle& bundle, Port& port) noexcept : bundle_(bundle), port_(port) {}

  const Bundle& bundle() const noexcept { return bundle_; }
  // Inside, as the rest.
  void complete(link::Completion& completion) override {
    if (port_.alone() || bundle_.belongs_to(Bundle::this_thread())) {
      return completion.done(completion);
    }
    completion.next = std::exchange(first_, &completion);
    port_.wake_others();
  }
  bool empty() const noexcept { return first_ == nullptr; }
  link::Completion* take() noexcept {
    link::Completion* const taken = first_;
    if (taken != nullptr) first_ = taken->next;
    return taken;
  }

 private:
  const Bundle& bundle_;
  Port& port_;
  link::Completion* first_ = nullptr;
};

FarMessages::FarMessages(const Process& process, Port& port, Transfers& transfers)
    : process_(process), port_(port), transfers_(transfers) {
  for (const Type type :
       {Type::kHello, Type::kExtent, Type::kRequest, Type::kOneWay, Type::kReply, Type::kReturned,
        Type::kCredits, Type::kFlush, Type::kGoodbye, Type::kGone, Type::kFragment}) {
    port_.add(type, *this);
  }
  port_.add(static_cast<Resumed&>(*this));
}

FarMessages::~FarMessages() = default;

bool FarMessages::is_for_poll(const link::PacketHeader& packet) noexcept {
  return packet.type == Type::kRequest || packet.type == Type::kOneWay ||
         packet.type == Type::kReply || packet.type == Type::kReturned ||
         packet.type == Type::kFragment;  // it belongs to the message behind it
}

void FarMessages::attach(EndpointParts& endpoint) {
  const Port::Lock network(port_);
  endpoints_[endpoint.name.serial] = {&endpoint, endpoint.bundle.get()};
}

void FarMessages::detach(std::uint32_t serial) {
  const Port::Lock network(port_);
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

template <class Access>
int FarMessages::poll(Bundle& bundle, bool spinning) {
  const bool looks = !spinning || port_.worth_a_look();
  if (Access::kAlone && !looks) return 0;
  if (looks) {
    const typename Access::Unlocked unlocked(bundle);
    const Port::TryLock network(port_);
    if (Access::kAlone && network.alone()) [[likely]] {
      polling_ = &bundle;
      const Finally turn([this] { polling_ = nullptr; });
      int count = 0;
      if (!late_.empty()) [[unlikely]]
        count = deliver_late<Access>(bundle);
      return count + port_.poll();
    }
    if (network) port_.poll();  // else another thread does
  }
  const int completed = complete(bundle);
  return completed + deliver_late<Access>(bundle);
}
template int FarMessages::poll<OneThread>(Bundle&, bool);
template int FarMessages::poll<AnyThread>(Bundle&, bool);

template <class Access>
bool FarMessages::fetch(Bundle& bundle) {
  {
    const typename Access::Unlocked unlocked(bundle);
    const Port::Lock network(port_);
    if (Access::kAlone && network.alone()) [[likely]] {
      fetching_ = &bundle;
      const Finally turn([this] { fetching_ = nullptr; });
      return port_.fetch() || late_.contains(&bundle);
    }
    port_.fetch();
  }
  complete(bundle);
  while (const auto taken = take_late<Access>(bundle, true)) deliver_late<Access>(nullptr, *taken);
  return has_late<Access>(bundle);
}
template bool FarMessages::fetch<OneThread>(Bundle&);
template bool FarMessages::fetch<AnyThread>(Bundle&);

FarMessages::Finished* FarMessages::find_home(const Bundle& bundle) const noexcept {
  const auto found =
      std::ranges::find_if(homes_, [&](const auto& home) { return &home->bundle() == &bundle; });
  return found == homes_.end() ? nullptr : found->get();
}

link::Home& FarMessages::home(const Bundle& bundle) {
  const Port::Lock network(port_);
  if (Finished* const found = find_home(bundle)) return *found;
  return *homes_.emplace_back(std::make_unique<Finished>(bundle, port_));
}

link::Home* home_of(const Bundle& bundle) {
  FarMessages* const far = bundle.process().far_messages();
  return far == nullptr ? nullptr : &far->home(bundle);
}

void FarMessages::leave(const Bundle& bundle) noexcept {
  const Port::Lock network(port_);
  std::erase_if(homes_, [&](const auto& home) { return &home->bundle() == &bundle; });
}

// Calls back for what other threads have completed; returns how often. Not inside.
int FarMessages::complete(const Bundle& bundle) {
  const auto next = [&]() -> link::Completion* {
    const Port::Lock network(port_);
    Finished* const home = find_home(bundle);
    return home != nullptr ? home->take() : nullptr;
  };
  int count = 0;
  while (link::Completion* const completion = next()) {
    completion->done(*completion);
    ++count;
  }
  return count;
}

// Of a parallel bundle a message for an endpoint that is held counts, too: that is not for long,
// and nobody is woken.
template <class Access>
bool FarMessages::has_late(Bundle& bundle) const noexcept {
  const Port::Lock network(port_);
  const auto queue = late_.find(&bundle);
  if constexpr (Access::kAlone) {
    const Finished* const home = find_home(bundle);
    return queue != late_.end() || (home != nullptr && !home->empty());
  } else {
    return queue != late_.end() && std::ranges::any_of(queue->second, [&](const Late& late) {
             return may_be_taken(bundle, late);
           });
  }
}
template bool FarMessages::has_late<OneThread>(Bundle&) const noexcept;
template bool FarMessages::has_late<AnyThread>(Bundle&) const noexcept;

void FarMessages::leave_flushes(Rank from, int count) noexcept {
  const Port::Lock network(port_);
  if (count != 0) flushes_left_[from] += count;
}

bool FarMessages::has_flushed() const noexcept {
  const Port::Lock network(port_);
  return std::ranges::all_of(flushes_left_,
                             [this](const auto& left) { return is_dead(left.first); });
}

void FarMessages::resume() {
  if (lasts_.empty()) [[likely]]
    return;
  const std::vector<Last> lasts = std::exchange(lasts_, {});
  for (const auto& [to, packet] : lasts) send_last(to, packet);
}

void FarMessages::send_last(Rank to, const link::MessagePacket& packet) {
  if (process_.has_left()) return;
  const Port::Lock network(port_);
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
  const Port::Lock network(port_);
  port_.link().send(to, std::as_bytes(std::span(&packet, 1)));
  ++flushes_left_[to];
}

FarMessages::Addressee FarMessages::find(const link::PacketHeader& message) const noexcept {
  const auto* const packet = link::as<link::MessagePacket>(message);
  const auto found = packet != nullptr ? endpoints_.find(packet->to) : endpoints_.end();
  return found != endpoints_.end() ? found->second : Addressee{};
}

bool FarMessages::keeps(const link::PacketHeader& packet) const noexcept {
  if (!is_for_poll(packet)) return false;
  return fetching_ == nullptr || find(packet).bundle == fetching_;
}

// For an endpoint that has ended, or none.
void FarMessages::refuse_unknown(Rank from, const link::MessagePacket& message) {
  const bool flushed = message.head.type == Type::kCredits && message.head.detail == link::kFlushed;
  if (const auto left = flushes_left_.find(from); flushed && left != flushes_left_.end()) {
    if (--left->second == 0) flushes_left_.erase(left);
  }
  FarEndpoint::refuse_unknown(port_.link(), from, message);
  const bool goes_back = message.head.type == Type::kReply && message.head.handler != 0;
  if (goes_back && !process_.has_left()) flush_returned(from);
}

bool FarMessages::is_dead(Rank rank) const noexcept { return process_.router().is_dead(rank); }

// Of the dead nothing is taken any more: what is an answer has come back already, or will.
bool FarMessages::take(Rank from, const link::PacketHeader& packet) {
  if (is_dead(from)) [[unlikely]]
    return true;
  const auto* const message = link::as<link::MessagePacket>(packet);
  if (message == nullptr) return false;
  const Addressee to = find(packet);
  if (to.endpoint == nullptr) {
    refuse_unknown(from, *message);
    return true;
  }
  // Behind a message that was put aside, all that comes for the same bundle is, to keep the order.
  const bool elsewhere = is_for_poll(packet) ? to.bundle != polling_ : !port_.alone();
  if (elsewhere || (!late_.empty() && late_.contains(to.bundle))) [[unlikely]] {
    put_aside(*to.bundle, from, packet);
    return true;
  }
  return deliver_to(*to.endpoint, polling_, from, *message);
}

void FarMessages::put_aside(const Bundle& bundle, Rank from, const link::PacketHeader& packet) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
  late_[&bundle].push_back({from, {bytes, bytes + packet.bytes}});
  // What comes for a parallel bundle, every thread of it may be waiting for.
  const bool here = bundle.access() == Access::kSequential;
  if (here && bundle.belongs_to(Bundle::this_thread())) port_.put_aside_here();
}

bool FarMessages::deliver_to(EndpointParts& endpoint, Bundle* polling, Rank from,
                             const link::MessagePacket& message) {
  if (is_for_poll(message.head)) polling->active_ = &endpoint.endpoint;
  return endpoint.far->deliver<OneThread>(from, message);
}

std::size_t FarMessages::late_of(const Bundle& bundle) const {
  const Port::Lock network(port_);
  const auto found = late_.find(&bundle);
  return found == late_.end() ? 0 : found->second.size();
}

// Inside, and locked. (Its endpoint is still there: detach() would have refused the message.)
bool FarMessages::may_be_taken(Bundle& bundle, const Late& late) const noexcept {
  EndpointParts& endpoint = *find(late.packet()).endpoint;
  if (endpoint.threads.left) return false;
  const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
  if (!endpoint.far->in_turn(late.from, message)) return true;
  bundle.left_out_ = true;
  return false;
}

// The oldest that was put aside for `bundle` and may be taken now, and for whom; std::nullopt:
// none, or one that needs a handler.
template <class Access>
std::optional<FarMessages::Taken> FarMessages::take_late(Bundle& bundle, bool without_handler) {
  const Port::Lock network(port_);
  const auto queue = late_.find(&bundle);
  if (queue == late_.end()) return std::nullopt;
  LateQueue& late = queue->second;
  const auto found = std::ranges::find_if(late, [&](const Late& one) {
    if constexpr (Access::kAlone) return true;
    return !find(one.packet()).endpoint->held() && may_be_taken(bundle, one);
  });
  if (found == late.end() || (without_handler && is_for_poll(found->packet()))) return std::nullopt;
  std::optional<Taken> taken;
  taken.emplace(Taken{std::move(*found), nullptr});
  taken->endpoint = find(taken->late.packet()).endpoint;
  late.erase(found);
  if (late.empty()) late_.erase(queue);
  return taken;
}

// One after another, as a handler may end endpoints or throw: the rest is for the next poll.
template <class Access>
int FarMessages::deliver_late(Bundle& bundle) {
  int count = 0;
  for (std::size_t there = late_of(bundle); there != 0; --there, ++count) {
    const std::optional<Taken> taken = take_late<Access>(bundle, false);
    if (!taken) break;
    if constexpr (!Access::kAlone) Bundle::thread().active = &taken->endpoint->endpoint;
    deliver_late<Access>(&bundle, *taken);
  }
  return count;
}

// detach() has left nothing for an endpoint that has ended; and of a parallel bundle the endpoint
// stays meanwhile, as it has a visitor.
template <class Access>
void FarMessages::deliver_late(Bundle* polling, const Taken& taken) {
  const Late& late = taken.late;
  EndpointParts* const endpoint = taken.endpoint;  // no structured binding: clang 14 captures none
  if (is_dead(late.from)) return;
  const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
  bool whole = true;
  if constexpr (Access::kAlone) {
    whole = deliver_to(*endpoint, polling, late.from, message);
  } else {
    const bool handled = is_for_poll(message.head);
    bool* const turn = handled ? endpoint->far->begin_turn(late.from, message) : nullptr;
    ++endpoint->threads.visits;
    const Finally visited([&] {
      endpoint->far->end_turn(turn);
      --endpoint->threads.visits;
    });
    whole = endpoint->far->deliver<Access>(late.from, message);
  }
  if (!whole) port_.refuse(late.from, message.head);
}

void FarMessages::moved(const EndpointParts& endpoint, const Bundle& before) {
  const Port::Lock network(port_);
  endpoints_.at(endpoint.name.serial).bundle = endpoint.bundle.get();
  const auto found = late_.find(&before);
  if (found == late_.end()) return;
  const LateQueue queue = std::move(found->second);
  late_.erase(found);
  for (const Late& late : queue) {
    if (!take(late.from, late.packet())) port_.refuse(late.from, late.packet());
  }
}

}  // namespace am
