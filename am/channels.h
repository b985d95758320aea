#pragma once

#include <cstdint>

#include "am/channel_receivers.h"
#include "am/channel_senders.h"

namespace am {

// All channels of a process.
//
// Thread rule: its bundle's.
struct Channels {
  explicit Channels(Bundle& bundle) : receivers(bundle), senders(bundle) {}

  int poll() { return receivers.poll() + senders.poll(); }
  bool has_work() noexcept { return senders.has_work() || receivers.has_work(); }

  ChannelReceivers receivers;
  ChannelSenders senders;
  std::uint32_t relays_awaited = 0;  // by the one MulticastChannel that is being made
};

}  // namespace am
