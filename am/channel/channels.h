#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "am/channel/numbers.h"
#include "am/channel/receivers.h"
#include "am/channel/senders.h"
#include "am/core/poller.h"
#include "am/core/process.h"
#include "am/far/arrival_words.h"
#include "am/link/link.h"

namespace am {

class ChannelHome;

// All channels of a bundle; part of that one.
//
// Thread rule: its bundle's. What other threads receive for it waits, copied, for its poll().
class Channels final : public Poller, public ArrivalSink {
 public:
  Channels(Bundle& bundle, ChannelHome& home);
  ~Channels() override;

  int poll() override;
  bool has_work() noexcept override;

  const Bundle& bundle() const noexcept { return bundle_; }

  // From the network, inside the port. False: the packet is damaged.
  bool take(Rank from, const link::PacketHeader& packet);
  void arrived(std::uint32_t arrival) override;

  ChannelReceivers receivers;
  ChannelSenders senders;
  std::uint32_t relays_awaited = 0;  // by the one MulticastChannel that is being made
  std::uint8_t index = 0;            // among the channels of the process's bundles

 private:
  struct Waiting {
    const link::PacketHeader& packet() const noexcept {
      return *reinterpret_cast<const link::PacketHeader*>(bytes.data());
    }
    Rank from = 0;
    std::uint32_t arrival = 0;  // if there are no bytes
    std::vector<std::byte> bytes;
  };

  bool may_take() const noexcept;
  void wait_for_poll(Waiting&& one);
  bool take_now(Rank from, const link::PacketHeader& packet);
  void take_waiting();
  // Whether other threads have received something for these channels. pairs with: wait_for_poll(),
  // by the port's lock, and by the doorbell for a thread that sleeps
  bool has_waiting() const noexcept { return has_waiting_.load(std::memory_order_relaxed); }

  const Bundle& bundle_;
  ChannelHome& home_;
  Port* const port_;  // nullptr: no processes on other nodes
  // Owned by whoever is inside the port.
  std::vector<Waiting> waiting_;
  std::atomic<bool> has_waiting_{false};
};

// What a process has for channels from their first use on, while bundles come and go.
//
// Thread rule: any thread.
class ChannelHome final : public Process::Extension, public link::TypeSink {
 public:
  explicit ChannelHome(Process& process);
  // That of `process`, made at the first use.
  static ChannelHome& of(Process& process);
  // ... or nullptr: it has had no channels.
  static ChannelHome* of_if_made(Process& process);

  // Those of `bundle`, made at the first use by its thread. Throws Error if 256 bundles of the
  // process have channels.
  Channels& channels(Bundle& bundle);
  Channels* find(const Bundle& bundle) noexcept;  // or nullptr
  ChannelNumbers& numbers() noexcept { return numbers_; }
  ChannelSeats& seats() noexcept { return seats_; }

  // The word by which other nodes name a channel of `owner`, which has a new number, in the place
  // of the one that the number had: that stays until then, so a put that comes too late is known to
  // be one.
  std::uint64_t renew_word(const ChannelHandle& handle, Channels& owner);

  void spoil() noexcept override;
  // From the network, inside the port. What is for channels that have ended with their bundle is
  // dropped.
  bool take(Rank from, const link::PacketHeader& packet) override;

 private:
  friend class Channels;
  struct Named {  // by a number of ChannelNumbers
    std::uint64_t word = 0;
    Channels* owner = nullptr;
  };

  std::uint8_t add(Channels& channels);
  void remove(Channels& channels) noexcept;
  Channels* owner_of(const link::PacketHeader& packet) noexcept;

  Process& process_;
  Port* const port_;  // nullptr: no processes on other nodes
  ChannelNumbers numbers_;
  ChannelSeats seats_;
  // Owned by whoever is inside the port.
  std::vector<Named> named_;
  std::mutex mutex_;  // guards the next; nothing else is locked meanwhile
  std::array<Channels*, 256> all_{};
};

// Those of `bundle`, as ChannelHome::channels().
Channels& channels_of(Bundle& bundle);

}  // namespace am
