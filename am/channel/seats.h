#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "am/types/types.h"
#include "shmem/arrivals.h"

namespace am {

class Router;

// The words by which this process notifies its neighbours of puts (shmem/arrivals.h). They outlast
// channels and bundles: a word is used again when its receiver has seen its last value.
//
// Thread rule: that of the bundle that has channels.
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
    if (!waiting_.empty()) reclaim_next();
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
  std::unordered_map<Rank, Board> boards_;  // of neighbours that it has ever put to
  std::vector<Rank> waiting_;               // those with something retired
  std::size_t turn_ = 0;                    // among these
};

}  // namespace am
