#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "am/channel/ends.h"
#include "am/route/router.h"
#include "am/sync/locks.h"
#include "shmem/arrivals.h"

namespace am {

class ChannelReceivers;

// Which receiver's end of this process has which number, in whichever bundle it is, and what
// neighbours have announced on the board, which all bundles share. Only the memory grows with the
// number of channels; the cost of a poll does not.
//
// Thread rule: any thread. While channels are in one thread alone, the lock costs it 1 to 2 ns a
// poll.
class ChannelNumbers {
 public:
  explicit ChannelNumbers(Router& router);

  // The receivers of a bundle begin, and end. The last ones take all numbers with them.
  void add();
  void remove(ChannelReceivers& receivers) noexcept;

  // Gives `end`, whose owner is set, a number and a generation. False: there is none left.
  [[nodiscard]] bool open(detail::ReceiveEnd& end);
  // What the number names is stale from now on.
  void close(const detail::ReceiveEnd& end) noexcept;
  // Says on the board how many puts were seen, and whether one may come. By the owner's thread.
  void say(const detail::ReceiveEnd& end, detail::State state) noexcept;

  // The open end with that name, of `owner`; nullptr: it has none. By the owner's thread.
  detail::ReceiveEnd* find(std::uint32_t arrival, const ChannelReceivers& owner) noexcept;

  // Takes what has been announced. `by`, of the calling thread, delivers what is its own at once if
  // no other thread has channels; the rest is left with the owners, each to be delivered by its own
  // poll. Returns how much was delivered. Does nothing while another thread does it.
  int poll(ChannelReceivers& by);
  // Whether poll() would find something.
  bool has_arrival();
  // Moves what other threads, or polls, have left for `receivers` to the end of `to`.
  void take_left(ChannelReceivers& receivers, std::vector<shmem::Arrival>& to);

  // How many cache lines of senders poll() loads.
  std::size_t watched();

  // All channels of the process may be used by several threads from now on, so that no callback
  // runs inside the lock. Waits for the thread that is inside.
  void share() noexcept { lock_.be_unbiased(); }
  void begin_in_child() noexcept { lock_.begin_in_child(); }  // which was forked

 private:
  using End = detail::ReceiveEnd;

  End* find_inside(std::uint32_t arrival) const noexcept;
  void route(ChannelReceivers& by, shmem::Arrival arrival, bool alone);

  // Constant after construction.
  Router& router_;
  shmem::ArrivalBoard& board_;
  // Callbacks run inside only while one thread alone has channels.
  BiasedLock lock_;
  // Guarded by it.
  std::optional<shmem::Arrivals> arrivals_;  // none: no bundle has channels
  std::vector<End*> ends_;                   // by number; nullptr: free
  std::deque<std::uint16_t> free_;           // numbers, the longest unused first
  std::size_t owners_ = 0;                   // bundles with channels
};

}  // namespace am
