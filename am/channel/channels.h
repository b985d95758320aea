#pragma once

#include <cstdint>

#include "am/channel/receivers.h"
#include "am/channel/seats.h"
#include "am/channel/senders.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/link/packet_sinks.h"
#include "am/one_sided/arrival_words.h"

namespace am {

class ChannelHome;

// All channels of a process, which are all in one bundle; part of that one.
//
// Thread rule: its bundle's.
class Channels final : public Poller {
 public:
  Channels(Bundle& bundle, ChannelHome& home);
  ~Channels() override;

  int poll() override { return receivers.poll() + senders.poll(); }
  bool has_work() noexcept override { return senders.has_work() || receivers.has_work(); }

  const Bundle& bundle() const noexcept { return bundle_; }

  ChannelReceivers receivers;
  ChannelSenders senders;
  std::uint32_t relays_awaited = 0;  // by the one MulticastChannel that is being made

 private:
  const Bundle& bundle_;
  ChannelHome& home_;
};

// What a process has for channels from their first use on, while bundles come and go.
//
// Thread rule: that of the bundle that has channels.
class ChannelHome final : public Process::Extension, public link::TypeSink, public ArrivalSink {
 public:
  explicit ChannelHome(Process& process);
  static ChannelHome& of(Process& process);

  // Those of `bundle`, made at the first use. Throws Error if another bundle has channels.
  Channels& channels(Bundle& bundle);
  // What they have counted.
  ChannelStats stats(const Bundle& bundle) const noexcept {
    return are_of(bundle) ? channels_->receivers.stats() : ChannelStats{};
  }
  ChannelSeats& seats() noexcept { return seats_; }

  // From the network. What is for channels that have ended with their bundle is dropped.
  bool take(Rank from, const link::PacketHeader& packet) override;
  void arrived(std::uint32_t arrival) override;

 private:
  friend class Channels;

  bool are_of(const Bundle& bundle) const noexcept {
    return channels_ != nullptr && &channels_->bundle() == &bundle;
  }

  ChannelSeats seats_;
  Channels* channels_ = nullptr;  // set and reset by themselves
};

// Those of `bundle`, as ChannelHome::channels().
Channels& channels_of(Bundle& bundle);

}  // namespace am
