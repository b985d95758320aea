#include "am/barrier.h"

namespace am {

Barrier::Barrier(const Router& router) noexcept : router_(router) {
  if (router.options().oversubscribed) return;
  while (std::uint64_t{1} << rounds_ < router.size()) ++rounds_;
}

void Barrier::tell(int round) noexcept {
  const Rank next = (router_.rank() + (Rank{1} << round)) % router_.size();
  router_.peer(next).header->rounds[round].publish(epoch_);
  router_.notify(next);
}

void Barrier::enter() noexcept {
  ++epoch_;
  round_ = 0;
  if (router_.size() == 1) return;
  if (rounds_ != 0) return tell(0);
  RegionHeader& root = *router_.peer(0).header;
  if (root.arrivals.add(1) + 1 != epoch_ * router_.size()) return;
  root.released.publish(epoch_);
  for (Rank rank = 0; rank < router_.size(); ++rank) router_.notify(rank);
}

bool Barrier::passed() noexcept {
  if (router_.size() == 1) return true;
  if (rounds_ == 0) return router_.peer(0).header->released.value() >= epoch_;
  while (router_.self().header->rounds[round_].value() >= epoch_) {
    if (++round_ == rounds_) {
      --round_;  // stays passed when asked again
      return true;
    }
    tell(round_);
  }
  return false;
}

}  // namespace am
