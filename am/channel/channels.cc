#include "am/channel/channels.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "am/channel/channel.h"
#include "am/core/bundle.h"
#include "am/far/far_memory.h"
#include "am/route/port.h"

namespace am {

using link::Type;

Channels::Channels(Bundle& bundle, ChannelHome& home)
    : receivers(bundle, home, *this),
      senders(bundle, home.seats()),
      bundle_(bundle),
      home_(home),
      port_(bundle.router().port()) {
  bundle.require_sequential("Channels");
  index = home_.add(*this);
}

Channels::~Channels() { home_.remove(*this); }

int Channels::poll() {
  if (has_waiting()) [[unlikely]]
    take_waiting();
  return receivers.poll() + senders.poll();
}

bool Channels::has_work() noexcept {
  return has_waiting() || senders.has_work() || receivers.has_work();
}

// Whether the calling thread, which polls the network, is that of the channels, and everything that
// has come before is with them.
bool Channels::may_take() const noexcept {
  return port_->alone() || (waiting_.empty() && bundle_.belongs_to(Bundle::this_thread()));
}

void Channels::wait_for_poll(Waiting&& one) {
  waiting_.push_back(std::move(one));
  has_waiting_.store(true, std::memory_order_relaxed);
  port_->wake_others();
}

void Channels::take_waiting() {
  std::vector<Waiting> now;
  {
    const Port::Lock network(*port_);
    now.swap(waiting_);
    has_waiting_.store(false, std::memory_order_relaxed);
  }
  for (const Waiting& one : now) {
    if (one.bytes.empty()) {
      receivers.arrived(one.arrival);
    } else if (!take_now(one.from, one.packet())) {
      port_->refuse(one.from, one.packet());
    }
  }
}

bool Channels::take(Rank from, const link::PacketHeader& packet) {
  if (may_take()) return take_now(from, packet);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
  wait_for_poll({.from = from, .bytes = {bytes, bytes + packet.bytes}});
  return true;
}

bool Channels::take_now(Rank from, const link::PacketHeader& packet) {
  if (packet.type == Type::kRelayed) {
    if (packet.bytes != sizeof packet || relays_awaited == 0) return false;
    --relays_awaited;
    return true;
  }
  const auto* const access = link::as<link::Access>(packet);
  if (access == nullptr) return false;
  return packet.type == Type::kChannel ? receivers.take_piece(*access)
                                       : receivers.take_relay(from, *access);
}

void Channels::arrived(std::uint32_t arrival) {
  if (may_take()) return receivers.arrived(arrival);
  wait_for_poll({.arrival = arrival, .bytes = {}});
}

// --- Of the whole process

ChannelHome::ChannelHome(Process& process)
    : process_(process),
      port_(process.router().port()),
      numbers_(process.router()),
      seats_(process.router()) {
  if (port_ == nullptr) return;
  for (const Type type : {Type::kChannel, Type::kRelay, Type::kRelayed}) port_->add(type, *this);
}

namespace {

// Guards Process::channels while any thread may make it.
std::mutex making;

}  // namespace

ChannelHome& ChannelHome::of(Process& process) {
  const std::lock_guard lock(making);
  if (!process.channels) process.channels = std::make_unique<ChannelHome>(process);
  return static_cast<ChannelHome&>(*process.channels);
}

ChannelHome* ChannelHome::of_if_made(Process& process) {
  const std::lock_guard lock(making);
  return static_cast<ChannelHome*>(process.channels.get());
}

Channels* ChannelHome::find(const Bundle& bundle) noexcept {
  const std::lock_guard lock(mutex_);
  for (Channels* const one : all_) {
    if (one != nullptr && &one->bundle() == &bundle) return one;
  }
  return nullptr;
}

Channels& ChannelHome::channels(Bundle& bundle) {
  if (Channels* const found = find(bundle)) return *found;
  auto made = std::make_unique<Channels>(bundle, *this);
  Channels& channels = *made;
  bundle.keep(std::move(made));
  return channels;
}

std::uint8_t ChannelHome::add(Channels& channels) {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find(all_, nullptr);
  if (free == all_.end()) {
    channels.bundle().refuse("channels_of",
                             "256 bundles of this process have channels, which is as many as may; "
                             "use one of those");
  }
  *free = &channels;
  return static_cast<std::uint8_t>(free - all_.begin());
}

// Whoever is inside the port has found its owner and may still use it.
void ChannelHome::remove(Channels& channels) noexcept {
  std::optional<Port::Lock> network;
  if (port_ != nullptr) network.emplace(*port_);
  for (Named& one : named_) {
    if (one.owner != &channels) continue;
    process_.far_memory()->arrival_words().remove(one.word);
    one = {};
  }
  const std::lock_guard lock(mutex_);
  all_[channels.index] = nullptr;
}

std::uint64_t ChannelHome::renew_word(const ChannelHandle& handle, Channels& owner) {
  if (port_ == nullptr) return 0;
  ArrivalWords& words = process_.far_memory()->arrival_words();
  const Port::Lock network(*port_);
  if (named_.size() <= handle.number) named_.resize(handle.number + std::size_t{1});
  Named& named = named_[handle.number];
  words.remove(named.word);
  named = {words.add(detail::arrival_of(handle), owner), &owner};
  return named.word;
}

void ChannelHome::spoil() noexcept {
  numbers_.begin_in_child();
  for (Channels* const one : all_) {
    if (one != nullptr) one->senders.spoil();
  }
}

// What names no channel is for any that there are, to be reported as stale.
Channels* ChannelHome::owner_of(const link::PacketHeader& packet) noexcept {
  if (packet.type != Type::kRelayed) {
    const auto* const access = link::as<link::Access>(packet);
    const std::uint16_t number =
        access != nullptr ? detail::number_of(static_cast<std::uint32_t>(access->number)) : 0;
    if (number < named_.size() && named_[number].owner != nullptr) return named_[number].owner;
  }
  const std::lock_guard lock(mutex_);
  if (packet.type == Type::kRelayed) return all_[packet.detail];
  const auto any = std::ranges::find_if(all_, [](Channels* one) { return one != nullptr; });
  return any != all_.end() ? *any : nullptr;
}

bool ChannelHome::take(Rank from, const link::PacketHeader& packet) {
  Channels* const owner = owner_of(packet);
  return owner == nullptr || owner->take(from, packet);
}

Channels& channels_of(Bundle& bundle) { return ChannelHome::of(bundle.process()).channels(bundle); }

void share_channels(Bundle& bundle) { ChannelHome::of(bundle.process()).numbers().share(); }

ChannelStats channel_stats(Bundle& bundle) {
  ChannelHome* const home = ChannelHome::of_if_made(bundle.process());
  const Channels* const channels = home != nullptr ? home->find(bundle) : nullptr;
  return channels != nullptr ? channels->receivers.stats() : ChannelStats{};
}

}  // namespace am
