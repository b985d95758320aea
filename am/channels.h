#pragma once

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
};

}  // namespace am
