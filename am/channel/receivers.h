#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "am/channel/ends.h"
#include "am/far/arrival_words.h"
#include "am/observe/observers.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "shmem/arrivals.h"

namespace am {

class Bundle;

// The receivers' ends of a process: which channel has which number, and what has arrived. Only the
// memory grows with the number of channels; the cost of a poll does not.
//
// Thread rule: the bundle's.
class ChannelReceivers {
 public:
  ChannelReceivers(Bundle& bundle, ArrivalSink& home);
  ~ChannelReceivers();
  ChannelReceivers(const ChannelReceivers&) = delete;
  ChannelReceivers& operator=(const ChannelReceivers&) = delete;

  // Gives `end` a number. Throws Error when there is none left.
  void open(detail::ReceiveEnd& end);
  // Also by its own callback: then the end lives until that has returned.
  void close(Owned<detail::ReceiveEnd> end) noexcept;
  void mark(detail::ReceiveEnd& end, const char* call);
  void arm(detail::ReceiveEnd& end, const char* call);

  // Calls back for what has arrived; returns how many times.
  int poll() {
    int count = arrivals_.poll([this](shmem::Arrival arrival) { arrive(arrival); });
    if (!by_network_.empty() || !due_.empty() || !orders_.empty()) [[unlikely]]
      count += poll_noted();
    return count;
  }
  bool has_work() noexcept;

  // From the network: a put is complete, or a piece of one has come. Calls nobody back: poll()
  // does. False: the packet is damaged.
  void arrived(std::uint32_t arrival) { by_network_.push_back(arrival); }
  bool take_piece(const link::Access& packet);

  // A far process asks to pass on what comes on a channel; poll() sets that up and answers.
  bool take_relay(Rank from, const link::Access& packet);

  const ChannelStats& stats() const noexcept { return stats_; }
  // How many cache lines of senders poll() loads.
  std::size_t watched() const noexcept { return arrivals_.watched(); }

 private:
  using End = detail::ReceiveEnd;

  struct Order {  // to pass on
    Rank from;
    std::uint32_t arrival;
    std::uint8_t detail;
    ChannelHandle to;
  };

  End* find(std::uint32_t arrival) noexcept;
  std::uint16_t take_number();
  std::uint64_t renew_word(const End& end);
  void publish(const End& end) noexcept;
  void say(const End& end, detail::State state) noexcept;
  void arrive(shmem::Arrival arrival);
  void arrive(End& end, std::uint32_t puts);
  int poll_noted();
  void obey(const Order& order);
  void call(End& end);
  void call_traced(Trace& trace, End& end);
  void wrong(ChannelPhase::Wrong what, const End& end, const char* call);
  void wrong_stale(std::uint32_t arrival);

  // Constant after construction.
  Bundle& bundle_;
  ArrivalSink& home_;  // is notified of puts from other nodes
  shmem::ArrivalBoard& board_;
  // Owned by the bundle's thread.
  shmem::Arrivals arrivals_;
  std::vector<End*> ends_;                 // by number; nullptr: free
  std::vector<std::uint64_t> words_;       // by number: of the last channel that had it; 0: none
  std::deque<std::uint16_t> free_;         // numbers, the longest unused first
  std::vector<std::uint32_t> by_network_;  // arrivals that poll() has not seen
  std::vector<std::uint32_t> due_;         // channels to be called back, as arrivals
  std::vector<Order> orders_;
  const End* calling_ = nullptr;  // whose callback is running
  Owned<End> closed_;             // that one, if it has been closed meanwhile
  ChannelStats stats_;
};

}  // namespace am
