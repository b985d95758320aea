#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "am/channel/ends.h"
#include "am/observe/observers.h"
#include "am/route/router.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"
#include "shmem/arrivals.h"

namespace am {

// The words by which this process notifies its neighbours of puts (shmem/arrivals.h). They outlast
// channels and bundles: a word is used again when its receiver has seen its last value.
//
// Thread rule: any thread.
class ChannelSeats {
 public:
  explicit ChannelSeats(const Router& router);

  // One on the board of `rank`, which is near. Throws shmem::Error when all are taken.
  shmem::ArrivalSeat take(Rank rank);
  // It has not been written since it was taken.
  void give_back(Rank rank, const shmem::ArrivalSeat& seat);
  // `last` was written to it, and need not have been seen yet.
  void retire(Rank rank, const shmem::ArrivalSeat& seat, const shmem::Arrival& last);

  // Checks one of those that were retired, each time another; costs nothing if there is none.
  void poll() {
    // Whoever sees this late checks one poll later.
    if (any_waiting_.load(std::memory_order_relaxed)) [[unlikely]]
      reclaim_next();
  }

 private:
  struct Retired {
    shmem::ArrivalSeat seat;
    shmem::Arrival last;
  };
  // What this process has of the board of one neighbour.
  struct Board {
    std::unique_ptr<shmem::ArrivalSeats> seats;
    std::deque<Retired> retired;  // those not checked lately first
  };

  shmem::ArrivalSeats& seats_of(Rank rank);
  bool seen(Rank rank, const shmem::Arrival& last) const noexcept;
  void reclaim(Rank rank, std::size_t checks);
  void reclaim_next();

  const Router& router_;
  std::mutex mutex_;                        // guards the rest
  std::unordered_map<Rank, Board> boards_;  // of neighbours that it has ever put to
  std::vector<Rank> waiting_;               // those with something retired
  std::size_t turn_ = 0;                    // among these
  std::atomic<bool> any_waiting_{false};    // there is one; read without the mutex
};

class Bundle;

// The senders' ends of a bundle: how each put is sent, and the puts that found no room yet.
//
// Thread rule: the bundle's.
class ChannelSenders {
 public:
  ChannelSenders(Bundle& bundle, ChannelSeats& seats);

  // Throws Error if the handle is none, or stale as far as can be seen from here.
  void open(detail::SendEnd& end);
  void close(detail::SendEnd& end);
  void put(detail::SendEnd& end, CheckedCall call);
  void spoil() noexcept {  // so that each put is refused
    for (detail::SendEnd* const end : ends_) end->source_count = 0;
  }

  // Starts what found no room; returns how much.
  int poll() {
    seats_.poll();
    return waiting_.empty() ? 0 : resume();
  }
  bool has_work() const noexcept { return !waiting_.empty(); }

 private:
  using End = detail::SendEnd;
  // The completion of a put or row that the network writes. Each has its own: another thread may
  // report several before this one checks.
  struct Write : link::Completion {
    ChannelSenders* owner = nullptr;
    End* end = nullptr;
  };

  void start(End& end, CheckedCall call);
  void put_noted(End& end, CheckedCall call);  // which is counted, traced, or both
  void put_traced(Trace& trace, End& end, CheckedCall call);
  void open_near(End& end);
  void wait_for_last(End& end);
  void check(const End& end, Call call) const;
  void put_near(End& end, const End::Source& source, CheckedCall call);
  bool try_start(End& end);
  bool try_write(End& end, const link::RmaAccess& access);
  static void left(link::Completion& completion);
  bool try_write_rows(End& end, const End::Source& source);
  bool try_send_pieces(End& end, const End::Source& source);
  void send_piece(const End& end, const End::Source& source, std::uint32_t bytes);
  int resume();
  [[noreturn]] void refuse(Call call, const ChannelHandle& handle, const std::string& what) const;

  // Constant after construction.
  Bundle& bundle_;
  Router& router_;
  ChannelSeats& seats_;
  // Owned by the bundle's thread.
  std::vector<End*> ends_;     // open ones
  std::vector<End*> waiting_;  // oldest first
  ObjectPool<Write> writes_;
};

}  // namespace am
