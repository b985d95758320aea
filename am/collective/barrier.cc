#include "am/collective/barrier.h"

#include <span>
#include <utility>

#include "am/route/port.h"

namespace am {

Barrier::Barrier(const Router& router)
    : router_(router),
      several_nodes_(router.far_peers()),
      leader_(router.options().leaders[router.options().node]) {
  if (several_nodes_) router.port()->add(link::Type::kBarrier, *this);
  if (!several_nodes_ && router.options().oversubscribed) return;
  const std::uint64_t tellers = several_nodes_ ? router.options().leaders.size() : router.size();
  while (std::uint64_t{1} << rounds_ < tellers) ++rounds_;
}

void Barrier::signal(int round) noexcept {
  if (several_nodes_) {
    const auto& leaders = router_.options().leaders;
    const std::size_t next = (router_.options().node + (std::size_t{1} << round)) % leaders.size();
    return signal_far(leaders[next], round);
  }
  const Rank next = (router_.rank() + (Rank{1} << round)) % router_.size();
  router_.peer(next).header->rounds[round].publish(epoch_);
  router_.notify(next);
}

void Barrier::signal_far(Rank to, int round) const {
  const auto detail = static_cast<std::uint8_t>(round | (has_more() ? link::kMore : 0));
  const link::Barrier packet{
      link::make_header(link::Type::kBarrier, sizeof(link::Barrier), 0, detail), epoch_};
  const Port::Inside inside(*router_.port());
  router_.port()->link().send(to, std::as_bytes(std::span(&packet, 1)));
}

// The process whose packet signals `round` to this one.
Rank Barrier::signaller(int round) const noexcept {
  const auto& leaders = router_.options().leaders;
  const std::size_t distance = (std::size_t{1} << round) % leaders.size();
  return leaders[(router_.options().node + leaders.size() - distance) % leaders.size()];
}

bool Barrier::take(Rank from, const link::PacketHeader& head) {
  const auto* const packet = link::as_exactly<link::Barrier>(head);
  const int number = head.detail & ~link::kMore;
  if (packet == nullptr || number >= RegionHeader::kRounds || from != signaller(number)) {
    return false;
  }
  RegionHeader& self = *router_.self().header;
  shmem::Flag& round = self.rounds[number];
  if (packet->epoch != round.value() + 1) return false;
  if ((head.detail & link::kMore) != 0) self.more[packet->epoch % 2].add(1);
  round.publish(packet->epoch);
  return true;
}

bool Barrier::enter(bool more) noexcept {
  if (entered_) return false;
  entered_ = true;
  ++epoch_;
  round_ = 0;
  telling_ = false;
  if (more) this->more().add(1);
  if (router_.size() == 1) return true;
  if (!counts()) {
    telling_ = true;
    signal(0);
    return true;
  }
  const std::uint64_t near = router_.options().near;
  const bool last = root().arrivals.add(1) + 1 == epoch_ * near;
  if (several_nodes_) {
    if (leads()) {
      expects_.emplace(*router_.port(), 1);
    } else if (last) {
      router_.notify(leader_);
    }
  } else if (last) {
    release();
  }
  return true;
}

bool Barrier::any_more() noexcept {
  const std::uint64_t total = more().total();
  return std::exchange(known_[epoch_ % 2], total) != total;
}

// Lets the processes of this node go.
void Barrier::release() noexcept {
  root().released.publish(epoch_);
  for (Rank rank = 0; rank < router_.size(); ++rank) {
    if (router_.is_near(rank)) router_.notify(rank);
  }
}

// Whether the signals of all rounds have arrived, so that everybody who takes part has entered.
bool Barrier::disseminated() noexcept {
  while (router_.self().header->rounds[round_].value() >= epoch_) {
    if (++round_ == rounds_) {
      --round_;  // stays so when asked again
      return true;
    }
    signal(round_);
  }
  return false;
}

bool Barrier::push() const noexcept {
  const Port::Inside inside(*router_.port());
  return router_.port()->link().push();
}

bool Barrier::passed() noexcept {
  if (entered_ && has_passed()) entered_ = false;
  return !entered_;
}

bool Barrier::has_passed() noexcept {
  if (router_.size() == 1) return true;
  if (!counts()) return disseminated();
  if (root().released.value() >= epoch_) return true;
  if (!several_nodes_ || !leads()) return false;
  if (!telling_) {
    if (root().arrivals.total() != epoch_ * router_.options().near) return false;
    telling_ = true;
    signal(0);
  }
  // A process that has passed may block without polling: its signals must have been sent by then.
  if (!disseminated() || !push()) return false;
  expects_.reset();
  release();
  return true;
}

}  // namespace am
