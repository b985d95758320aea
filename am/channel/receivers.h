#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/channel/ends.h"
#include "am/channel/numbers.h"
#include "am/observe/observers.h"
#include "am/types/types.h"
#include "shmem/arrivals.h"

namespace am {

class Bundle;
class ChannelHome;
class Channels;

// The receivers' ends of a bundle, and what has arrived for them.
//
// Thread rule: the bundle's.
class ChannelReceivers {
 public:
  // Those of `channels`, which are being made.
  ChannelReceivers(Bundle& bundle, ChannelHome& home, Channels& channels);
  ~ChannelReceivers();
  ChannelReceivers(const ChannelReceivers&) = delete;
  ChannelReceivers& operator=(const ChannelReceivers&) = delete;

  // Gives `end` a number. Throws Error when there is none left.
  void open(detail::ReceiveEnd& end);
  // May be called by the end's own callback; then the end lives until that has returned.
  void close(Owned<detail::ReceiveEnd> end) noexcept;
  void mark(detail::ReceiveEnd& end, CheckedCall call);
  void arm(detail::ReceiveEnd& end, CheckedCall call);

  // Calls back for what has arrived; returns how many times.
  int poll() {
    const int count = numbers_.poll(*this);
    return has_noted() ? count + poll_noted() : count;
  }
  bool has_work() { return has_noted() || numbers_.has_arrival(); }

  // Called by the network when a put is complete, or a fragment of one has arrived. Invokes no
  // callback: poll() does. False: the packet is damaged.
  void arrived(std::uint32_t arrival) { by_network_.push_back(arrival); }
  bool take_piece(const link::Access& packet);

  // A far process asks to pass on what comes on a channel; poll() sets that up and answers.
  bool take_relay(Rank from, const link::Access& packet);

  const ChannelStats& stats() const noexcept { return stats_; }
  // How many cache lines of senders poll() loads.
  std::size_t watched() const { return numbers_.watched(); }

 private:
  friend class ChannelNumbers;
  using End = detail::ReceiveEnd;

  struct Order {  // to pass on
    Rank from;
    std::uint32_t arrival;
    std::uint8_t detail;
    std::uint8_t asker;  // which bundle of that process awaits the answer
    ChannelHandle to;
  };

  bool has_noted() const noexcept {
    // pairs with: leave(), by the lock that take_left() has, and by the doorbell for a thread that
    // sleeps
    return has_left_.load(std::memory_order_relaxed) || !announced_.empty() ||
           !by_network_.empty() || !due_.empty() || !orders_.empty();
  }
  End* find(std::uint32_t arrival) noexcept;
  void publish(const End& end) noexcept;
  // What a neighbour has announced, for `end`; nullptr: its channel is closed.
  void arrive(End* end, shmem::Arrival arrival);
  // ... is to be delivered by the next poll(). By a thread that holds the lock of the numbers.
  void leave(shmem::Arrival arrival) {
    left_.push_back(arrival);
    has_left_.store(true, std::memory_order_relaxed);
  }
  void arrive(End& end, std::uint32_t puts);
  int poll_noted();
  void obey(const Order& order);
  void call(End& end);
  void call_traced(Trace& trace, End& end);
  void wrong(ChannelPhase::Wrong what, const End& end, CheckedCall call);
  void wrong_stale(std::uint32_t arrival);

  // Constant after construction.
  Bundle& bundle_;
  ChannelHome& home_;
  Channels& channels_;
  ChannelNumbers& numbers_;
  // Guarded by the lock of the numbers.
  std::vector<shmem::Arrival> left_;  // by other threads' polls
  std::atomic<bool> has_left_{false};
  // Owned by the bundle's thread.
  std::vector<shmem::Arrival> announced_;  // by neighbours, taken from left_
  std::vector<std::uint32_t> by_network_;  // arrivals that poll() has not seen
  std::vector<std::uint32_t> due_;         // channels to be called back, as arrivals
  std::vector<Order> orders_;
  const End* calling_ = nullptr;  // whose callback is running
  Owned<End> closed_;             // that one, if it has been closed meanwhile
  ChannelStats stats_;
};

}  // namespace am
