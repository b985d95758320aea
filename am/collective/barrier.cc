#include "am/collective/barrier.h"

#include <cstring>
#include <utility>

#include "am/observe/trace.h"

namespace am {
namespace {

constexpr std::uint8_t kRoundBits = 0x1f;
static_assert(RegionHeader::kRounds <= kRoundBits + 1);

}  // namespace

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

void Barrier::wait_for_all(Bundle& bundle, Call call) {
  bundle.wait_with_siblings([this] { return passed(); },
                            [&] { return Reason{.call = call, .collective = epoch_}; });
}

void Barrier::wait_traced(Trace& trace, Bundle& bundle, Call call) {
  const TracedCall traced(trace);
  wait_for_all(bundle, call);
  traced.record(TraceKind::kCollective, trace.name_of(call), {.bytes = epoch_});
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

// --- Between nodes

Dissemination::Dissemination(const Router& router)
    : router_(router), leaders_(router.options().leaders), node_(router.options().node) {
  while (std::size_t{1} << rounds_ < leaders_.size()) ++rounds_;
  if (rounds_ != 0) router.port()->add(link::Type::kBarrier, *this);
}

// The process whose packets bring `round` to this one.
Rank Dissemination::signaller(int round) const noexcept {
  const std::size_t distance = (std::size_t{1} << round) % leaders_.size();
  return leaders_[(node_ + leaders_.size() - distance) % leaders_.size()];
}

Rank Dissemination::receiver(int round) const noexcept {
  return leaders_[(node_ + (std::size_t{1} << round)) % leaders_.size()];
}

void Dissemination::begin(std::uint64_t epoch, bool more) {
  epoch_ = epoch;
  more_ = more;
  round_ = 0;
  telling_ = true;
  expects_.emplace(*router_.port(), 1);
  signal(0);
}

void Dissemination::signal(int round) {
  const Port::Lock network(*router_.port());
  const auto detail = static_cast<std::uint8_t>(round | (more_ ? link::kMore : 0));
  const link::Barrier packet{
      link::make_header(link::Type::kBarrier, sizeof(link::Barrier), 0, detail), epoch_};
  link::Link& link = router_.port()->link();
  std::memcpy(link.claim(receiver(round), sizeof packet), &packet, sizeof packet);
  link.commit(receiver(round));
}

bool Dissemination::take(Rank from, const link::PacketHeader& head) {
  const auto* const packet = link::as<link::Barrier>(head);
  const int round = head.detail & kRoundBits;
  if (packet == nullptr || round >= rounds_ || from != signaller(round) ||
      head.bytes != sizeof *packet || head.data_bytes != 0) {
    return false;
  }
  shmem::Flag& flag = router_.self().header->rounds[round];
  if (packet->epoch != flag.value() + 1) return false;
  arrived(packet->epoch, round) = (head.detail & link::kMore) != 0;
  flag.publish(packet->epoch);
  return true;
}

// A process that has passed may block without polling: its packets must have been sent by then.
bool Dissemination::has_ended() {
  while (round_ < rounds_ && router_.self().header->rounds[round_].value() >= epoch_) {
    more_ |= arrived(epoch_, round_);
    if (++round_ < rounds_) signal(round_);
  }
  if (round_ < rounds_) return false;
  if (!router_.port()->flush()) return false;
  expects_.reset();
  telling_ = false;
  return true;
}

}  // namespace am
