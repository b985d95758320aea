#include "am/collective/dissemination.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace am {
namespace {

constexpr std::uint8_t kRoundBits = 0x1f;
constexpr std::size_t kMostData = std::size_t{1} << 30;  // of a round, in packets
constexpr std::size_t kWritten = 8192;  // bytes of a round from which on they are written
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

// Begins to. What has to be written first goes on in has_signalled().
void Dissemination::signal(int round) {
  std::span<const std::byte> data;
  if (payload_ != nullptr) data = payload_->outgoing(round);
  if (data.size() >= kWritten && begin_write(round, data)) {
    has_signalled();
  } else {
    send(round, data);
  }
}

bool Dissemination::begin_write(int round, std::span<const std::byte> data) {
  const std::optional<link::RemoteKey> place = payload_->place(round);
  if (!place) return false;
  write_.done = [](link::Completion& completion) {
    // pairs with: has_signalled()
    static_cast<Write&>(completion).is_done.store(true, std::memory_order_release);
  };
  write_.state = Write::State::kToStart;
  write_.round = round;
  write_.is_done.store(false, std::memory_order_relaxed);
  write_.access = link::RmaAccess::write(receiver(round), *place, data, true);
  return true;
}

// Makes the progress that is possible; whether the round that was signalled last is on its way.
bool Dissemination::has_signalled() {
  if (write_.state == Write::State::kNone) return true;
  if (write_.state == Write::State::kToStart) {
    const Port::Inside inside(*router_.port());
    if (!router_.port()->link().try_access(*write_.access, write_)) return false;
    write_.state = Write::State::kUnderWay;
  }
  // pairs with: the completion in begin_write(), perhaps in another thread
  if (!write_.is_done.load(std::memory_order_acquire)) return false;
  write_.state = Write::State::kNone;
  const Port::Inside inside(*router_.port());
  send_packet(write_.round, {}, write_.access->local.size(), false);
  return true;
}

void Dissemination::send(int round, std::span<const std::byte> data) {
  const Port::Inside inside(*router_.port());
  while (data.size() > link::kMaxData) {
    send_packet(round, data.first(link::kMaxData), 0, true);
    data = data.subspan(link::kMaxData);
  }
  send_packet(round, data, 0, false);
}

void Dissemination::send_packet(int round, std::span<const std::byte> data, std::uint64_t written,
                                bool continues) const {
  const auto detail = static_cast<std::uint8_t>(round | (word_.more ? link::kMore : 0) |
                                                (word_.differs ? link::kDiffers : 0) |
                                                (continues ? link::kContinues : 0));
  const std::uint32_t bytes =
      sizeof(link::Barrier) + link::rounded(static_cast<std::uint32_t>(data.size()));
  const link::Barrier packet{link::make_header(link::Type::kBarrier, bytes, data.size(), detail),
                             epoch_, digest(), written};
  link::Link& link = router_.port()->link();
  std::byte* const at = link.claim(receiver(round), bytes);
  std::memcpy(at, &packet, sizeof packet);
  if (!data.empty()) std::memcpy(at + sizeof packet, data.data(), data.size());
  link.commit(receiver(round));
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
  all.written = packet->written;
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
  const bool is_written = all.written != 0 && all.data.empty();
  const bool same =
      all.digest == digest() && (is_written ? all.written : all.data.size()) == expected;
  word_.differs |= all.word.differs || !same;
  if (same && expected != 0) {
    is_written ? payload_->written(round) : payload_->incoming(round, all.data);
  }
  all.data.clear();
}

// A process that has passed may block without polling: its packets must have been sent by then.
bool Dissemination::has_ended() {
  while (has_signalled() && round_ < rounds_ &&
         router_.self().header->rounds[round_].value() >= epoch_) {
    learn(round_);
    if (++round_ < rounds_) signal(round_);
  }
  if (round_ < rounds_ || !has_signalled()) return false;
  const Port::Inside inside(*router_.port());
  if (!router_.port()->link().flush()) return false;
  if (payload_ != nullptr) std::exchange(payload_, nullptr)->end();
  expects_.reset();
  telling_ = false;
  return true;
}

}  // namespace am
