#include "am/collective/dissemination.h"

#include <algorithm>
#include <utility>

namespace am {
namespace {

constexpr std::uint8_t kRoundBits = 0x1f;
constexpr std::size_t kMostData = std::size_t{1} << 30;  // of a round
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

void Dissemination::begin(std::uint64_t epoch, Word word, Payload* payload) {
  epoch_ = epoch;
  word_ = word;
  payload_ = payload;
  round_ = 0;
  telling_ = true;
  if (payload_ != nullptr && !payload_->begin()) word_.differs = true;
  expects_.emplace(*router_.port(), 1);
  signal(0);
}

void Dissemination::signal(int round) {
  const Rank to = leaders_[(node_ + (std::size_t{1} << round)) % leaders_.size()];
  std::span<const std::byte> data;
  if (payload_ != nullptr) data = payload_->outgoing(round);
  const Port::Inside inside(*router_.port());
  while (data.size() > link::kMaxData) {
    send(to, round, data.first(link::kMaxData), true);
    data = data.subspan(link::kMaxData);
  }
  send(to, round, data, false);
}

void Dissemination::send(Rank to, int round, std::span<const std::byte> data,
                         bool continues) const {
  const auto detail = static_cast<std::uint8_t>(round | (word_.more ? link::kMore : 0) |
                                                (word_.differs ? link::kDiffers : 0) |
                                                (continues ? link::kContinues : 0));
  const std::uint32_t bytes =
      sizeof(link::Barrier) + link::rounded(static_cast<std::uint32_t>(data.size()));
  const link::Barrier packet{link::make_header(link::Type::kBarrier, bytes, data.size(), detail),
                             epoch_, digest()};
  link::Link& link = router_.port()->link();
  std::byte* const at = link.claim(to, bytes);
  std::memcpy(at, &packet, sizeof packet);
  if (!data.empty()) std::memcpy(at + sizeof packet, data.data(), data.size());
  link.commit(to);
}

bool Dissemination::take(Rank from, const link::PacketHeader& head) {
  const auto* const packet = link::as<link::Barrier>(head);
  const int round = head.detail & kRoundBits;
  if (packet == nullptr || round >= rounds_ || from != signaller(round) ||
      head.bytes != sizeof *packet + link::rounded(head.data_bytes)) {
    return false;
  }
  shmem::Flag& flag = router_.self().header->rounds[round];
  if (packet->epoch != flag.value() + 1) return false;
  Arrived& all = arrived(packet->epoch, round);
  if (all.data.size() > kMostData) return false;
  const auto* const data = reinterpret_cast<const std::byte*>(packet + 1);
  all.data.insert(all.data.end(), data, data + head.data_bytes);
  if ((head.detail & link::kContinues) != 0) return true;
  all.digest = packet->digest;
  all.word = {.more = (head.detail & link::kMore) != 0,
              .differs = (head.detail & link::kDiffers) != 0};
  flag.publish(packet->epoch);
  return true;
}

// Takes over what the round has brought.
void Dissemination::learn(int round) {
  Arrived& all = arrived(epoch_, round);
  word_.more |= all.word.more;
  const std::size_t expected = payload_ != nullptr ? payload_->incoming_bytes(round) : 0;
  const bool same = all.digest == digest() && all.data.size() == expected;
  word_.differs |= all.word.differs || !same;
  if (same && expected != 0) payload_->incoming(round, all.data);
  all.data.clear();
}

// A process that has passed may block without polling: its packets must have been sent by then.
bool Dissemination::has_ended() {
  while (round_ < rounds_ && router_.self().header->rounds[round_].value() >= epoch_) {
    learn(round_);
    if (++round_ < rounds_) signal(round_);
  }
  if (round_ < rounds_) return false;
  const Port::Inside inside(*router_.port());
  if (!router_.port()->link().push()) return false;
  if (payload_ != nullptr) std::exchange(payload_, nullptr)->end();
  expects_.reset();
  telling_ = false;
  return true;
}

}  // namespace am
