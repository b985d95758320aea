#include "am/collective/barrier.h"

#include <utility>

#include "am/observe/trace.h"

namespace am {

Barrier::Barrier(const Router& router)
    : router_(router),
      several_nodes_(router.far_peers()),
      leader_(router.options().leaders[router.options().node]),
      nodes_(router),
      between_(router) {
  if (several_nodes_ || router.options().oversubscribed) return;
  while (std::uint64_t{1} << rounds_ < router.size()) ++rounds_;
}

void Barrier::signal(int round) noexcept {
  const Rank next = (router_.rank() + (Rank{1} << round)) % router_.size();
  router_.peer(next).header->rounds[round].publish(epoch_);
  router_.notify(next);
}

bool Barrier::enter(bool more) noexcept {
  if (entered_) return false;
  entered_ = true;
  ++epoch_;
  round_ = 0;
  if (more) this->more().add(1);
  if (router_.size() == 1) return true;
  if (!counts()) {
    signal(0);
    return true;
  }
  const std::uint64_t near = router_.options().near;
  const bool last = root().arrivals.add(1) + 1 == epoch_ * near;
  if (several_nodes_) {
    if (last && !leads()) router_.notify(leader_);
  } else if (last) {
    release();
  }
  return true;
}

void Barrier::wait_for_all(Bundle& bundle, const char* call, const SourceLocation& where) {
  bundle.wait_with_siblings([this] { return passed(); },
                            [&] {
                              return Reason{.call = {call, where}, .collective = epoch_};
                            });
}

void Barrier::wait_traced(Trace& trace, Bundle& bundle, const char* call,
                          const SourceLocation& where) {
  const TracedCall traced(trace);
  wait_for_all(bundle, call, where);
  traced.record(TraceKind::kCollective, trace.name_of(Call(call, where)), {.bytes = epoch_});
}

bool Barrier::any_more() noexcept {
  const std::uint64_t total = more().total();
  return std::exchange(known_[epoch_ % 2], total) != total;
}

// Lets the processes of this node go.
void Barrier::release() noexcept {
  root().released.publish(epoch_);
  for (const Rank rank : router_.near_ranks()) router_.notify(rank);
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

bool Barrier::passed() noexcept {
  if (entered_ && has_passed()) entered_ = false;
  return !entered_;
}

bool Barrier::has_passed() noexcept {
  if (router_.size() == 1) return true;
  if (!counts()) return disseminated();
  if (root().released.value() >= epoch_) return true;
  return several_nodes_ && leads() && leaders_have_passed();
}

bool Barrier::leaders_have_passed() noexcept {
  if (!between_.has_begun()) {
    if (root().arrivals.total() != epoch_ * router_.options().near) return false;
    between_.begin(epoch_, has_more());
  }
  if (!between_.has_ended()) return false;
  if (between_.any_more() && !has_more()) more().add(1);
  release();
  return true;
}

}  // namespace am
