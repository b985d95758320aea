#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/channel/receivers.h"
#include "am/channel/senders.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/far/arrival_words.h"
#include "am/link/link.h"

namespace am {

class ChannelHome;

// All channels of a process, which are all in one bundle; part of that one.
//
// Thread rule: its bundle's.
class Channels final : public Poller {
 public:
  Channels(Bundle& bundle, ChannelHome& home);
  ~Channels() override;

  int poll() override;
  bool has_work() noexcept override;

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
// Thread rule: that of the bundle that has channels. What other threads receive for them waits,
// copied, for its poll().
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

  // From the network, inside the port. What is for channels that have ended with their bundle is
  // dropped.
  void spoil() noexcept override {
    if (channels_ != nullptr) channels_->senders.spoil();
  }
  bool take(Rank from, const link::PacketHeader& packet) override;
  void arrived(std::uint32_t arrival) override;

  // Whether other threads have received something for the channels, and to take that. pairs with:
  // wait_for_poll(), by the port's lock, and by the doorbell for a thread that sleeps
  bool has_waiting() const noexcept { return has_waiting_.load(std::memory_order_relaxed); }
  void take_waiting();

 private:
  friend class Channels;

  struct Waiting {
    const link::PacketHeader& packet() const noexcept {
      return *reinterpret_cast<const link::PacketHeader*>(bytes.data());
    }
    Rank from = 0;
    std::uint32_t arrival = 0;  // if there are no bytes
    std::vector<std::byte> bytes;
  };

  void set(Channels* channels);
  bool may_take() const noexcept;
  void wait_for_poll(Waiting&& one);
  bool take_now(Rank from, const link::PacketHeader& packet);

  bool are_of(const Bundle& bundle) const noexcept {
    return channels_ != nullptr && &channels_->bundle() == &bundle;
  }

  Port* const port_;  // nullptr: no processes on other nodes
  ChannelSeats seats_;
  // Owned by whoever is inside the port.
  Channels* channels_ = nullptr;  // set and reset by themselves
  std::vector<Waiting> waiting_;
  std::atomic<bool> has_waiting_{false};
};

// Those of `bundle`, as ChannelHome::channels().
Channels& channels_of(Bundle& bundle);

}  // namespace am
