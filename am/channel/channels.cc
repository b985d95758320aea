#include "am/channel/channels.h"

#include <memory>
#include <utility>

#include "am/channel/channel.h"
#include "am/core/bundle.h"
#include "am/route/port.h"

namespace am {

using link::Type;

Channels::Channels(Bundle& bundle, ChannelHome& home)
    : receivers(bundle, home), senders(bundle, home.seats()), bundle_(bundle), home_(home) {
  bundle.require_sequential("Channels");
  home_.set(this);
}

Channels::~Channels() { home_.set(nullptr); }

int Channels::poll() {
  if (home_.has_waiting()) [[unlikely]]
    home_.take_waiting();
  return receivers.poll() + senders.poll();
}

bool Channels::has_work() noexcept {
  return home_.has_waiting() || senders.has_work() || receivers.has_work();
}

ChannelHome::ChannelHome(Process& process)
    : port_(process.router().port()), seats_(process.router()) {
  if (port_ == nullptr) return;
  for (const Type type : {Type::kChannel, Type::kRelay, Type::kRelayed}) port_->add(type, *this);
}

void ChannelHome::set(Channels* channels) {
  if (port_ == nullptr) {
    channels_ = channels;
    return;
  }
  const Port::Lock network(*port_);
  channels_ = channels;
  waiting_.clear();
  has_waiting_.store(false, std::memory_order_relaxed);
}

ChannelHome& ChannelHome::of(Process& process) {
  if (!process.channels) process.channels = std::make_unique<ChannelHome>(process);
  return static_cast<ChannelHome&>(*process.channels);
}

Channels& ChannelHome::channels(Bundle& bundle) {
  if (channels_ == nullptr) {
    bundle.keep(std::make_unique<Channels>(bundle, *this));
  } else if (!are_of(bundle)) {
    bundle.refuse("channels_of", "another bundle of this process has channels; use that one");
  }
  return *channels_;
}

// Whether the calling thread, which polls the network, is that of the channels, and everything that
// has come before is with them.
bool ChannelHome::may_take() const noexcept {
  return port_->alone() ||
         (waiting_.empty() && channels_->bundle().belongs_to(Bundle::this_thread()));
}

void ChannelHome::wait_for_poll(Waiting&& one) {
  waiting_.push_back(std::move(one));
  has_waiting_.store(true, std::memory_order_relaxed);
  port_->wake_others();
}

void ChannelHome::take_waiting() {
  std::vector<Waiting> now;
  {
    const Port::Lock network(*port_);
    now.swap(waiting_);
    has_waiting_.store(false, std::memory_order_relaxed);
  }
  for (const Waiting& one : now) {
    if (one.bytes.empty()) {
      channels_->receivers.arrived(one.arrival);
    } else if (!take_now(one.from, one.packet())) {
      port_->refuse(one.from, one.packet());
    }
  }
}

bool ChannelHome::take(Rank from, const link::PacketHeader& packet) {
  if (channels_ == nullptr) return true;
  if (may_take()) return take_now(from, packet);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
  wait_for_poll({.from = from, .bytes = {bytes, bytes + packet.bytes}});
  return true;
}

bool ChannelHome::take_now(Rank from, const link::PacketHeader& packet) {
  if (packet.type == Type::kRelayed) {
    if (packet.bytes != sizeof packet || channels_->relays_awaited == 0) return false;
    --channels_->relays_awaited;
    return true;
  }
  const auto* const access = link::as<link::Access>(packet);
  if (access == nullptr) return false;
  return packet.type == Type::kChannel ? channels_->receivers.take_piece(*access)
                                       : channels_->receivers.take_relay(from, *access);
}

void ChannelHome::arrived(std::uint32_t arrival) {
  if (channels_ == nullptr) return;
  if (may_take()) return channels_->receivers.arrived(arrival);
  wait_for_poll({.arrival = arrival, .bytes = {}});
}

Channels& channels_of(Bundle& bundle) { return ChannelHome::of(bundle.process()).channels(bundle); }

ChannelStats channel_stats(Bundle& bundle) {
  // Who only asks makes nothing: it may be another bundle's thread.
  const Process& process = bundle.process();
  return process.channels ? ChannelHome::of(bundle.process()).stats(bundle) : ChannelStats{};
}

}  // namespace am
