#include "am/channel/channels.h"

#include <memory>

#include "am/channel/channel.h"
#include "am/core/bundle.h"
#include "am/route/port.h"

namespace am {

using link::Type;

Channels::Channels(Bundle& bundle, ChannelHome& home)
    : receivers(bundle, home), senders(bundle, home.seats()), bundle_(bundle), home_(home) {
  home_.channels_ = this;
}

Channels::~Channels() { home_.channels_ = nullptr; }

ChannelHome::ChannelHome(Process& process) : seats_(process.router()) {
  Port* const port = process.router().port();
  if (port == nullptr) return;
  for (const Type type : {Type::kChannel, Type::kRelay, Type::kRelayed}) port->add(type, *this);
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

bool ChannelHome::take(Rank from, const link::PacketHeader& packet) {
  if (channels_ == nullptr) return true;
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
  if (channels_ != nullptr) channels_->receivers.arrived(arrival);
}

Channels& channels_of(Bundle& bundle) { return ChannelHome::of(bundle.process()).channels(bundle); }

ChannelStats channel_stats(Bundle& bundle) {
  // Who only asks makes nothing: it may be another bundle's thread.
  const Process& process = bundle.process();
  return process.channels ? ChannelHome::of(bundle.process()).stats(bundle) : ChannelStats{};
}

}  // namespace am
