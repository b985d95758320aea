#include "am/channel/seats.h"

#include <algorithm>

#include "am/channel/ends.h"
#include "am/route/router.h"
#include "shmem/error.h"

namespace am {
namespace {

// At each opening: more than one, so that the list shrinks while channels are opened and closed.
constexpr std::size_t kChecks = 4;

}  // namespace

ChannelSeats::ChannelSeats(const Router& router) : router_(router) {}

shmem::ArrivalSeats& ChannelSeats::seats_of(Rank rank) {
  std::unique_ptr<shmem::ArrivalSeats>& seats = boards_[rank].seats;
  if (!seats) {
    seats = std::make_unique<shmem::ArrivalSeats>(router_.peer(rank).header->puts,
                                                  router_.arrival_pair(rank));
  }
  return *seats;
}

shmem::ArrivalSeat ChannelSeats::take(Rank rank) {
  reclaim(rank, kChecks);
  try {
    return seats_of(rank).take();
  } catch (const shmem::Error&) {
    reclaim(rank, boards_[rank].retired.size());
    return seats_of(rank).take();
  }
}

void ChannelSeats::give_back(Rank rank, const shmem::ArrivalSeat& seat) {
  seats_of(rank).give_back(seat);
}

void ChannelSeats::retire(Rank rank, const shmem::ArrivalSeat& seat, const shmem::Arrival& last) {
  std::deque<Retired>& retired = boards_[rank].retired;
  if (retired.empty()) waiting_.push_back(rank);
  retired.push_back({seat, last});
}

// Whether the receiver has seen the last word, or a later one of the same channel, or has closed
// it.
bool ChannelSeats::seen(Rank rank, const shmem::Arrival& last) const noexcept {
  const shmem::Arrival state =
      detail::state_of(router_.peer(rank).header->puts.states[last.number]);
  return detail::is_stale(state, last.generation) ||
         static_cast<std::int32_t>(state.count - last.count) >= 0;
}

void ChannelSeats::reclaim(Rank rank, std::size_t checks) {
  std::deque<Retired>& retired = boards_[rank].retired;
  if (retired.empty()) return;
  for (std::size_t left = std::min(checks, retired.size()); left > 0; --left) {
    const Retired one = retired.front();
    retired.pop_front();
    if (seen(rank, one.last)) {
      give_back(rank, one.seat);
    } else {
      retired.push_back(one);
    }
  }
  if (retired.empty()) std::erase(waiting_, rank);
}

void ChannelSeats::reclaim_next() {
  turn_ = (turn_ + 1) % waiting_.size();
  reclaim(waiting_[turn_], 1);
}

}  // namespace am
