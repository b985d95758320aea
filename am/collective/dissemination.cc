#include "am/collective/dissemination.h"

#include <cstring>

namespace am {
namespace {

constexpr std::uint8_t kRoundBits = 0x1f;
static_assert(RegionHeader::kRounds <= kRoundBits + 1);

}  // namespace

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
