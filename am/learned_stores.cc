#include "am/learned_stores.h"

#include <span>

namespace am {
namespace {

constexpr std::uint32_t kRefused = 0xffffffff;

}  // namespace

LearnedStores::LearnedStores(link::Link& link, OneSided& one_sided, bool enabled)
    : link_(link), one_sided_(one_sided), enabled_(enabled && link.max_put() != 0) {}

std::size_t LearnedStores::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = key.to;
  for (const std::uint64_t part : {key.offset, key.bytes, key.counter}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::optional<std::uint32_t> LearnedStores::find(Rank to, std::uint64_t offset, std::uint64_t bytes,
                                                 std::uint64_t counter) {
  if (!enabled_ || bytes > link_.max_put()) return std::nullopt;
  const Key key{to, offset, bytes, counter};
  const auto found = repeated_.find(key);
  if (found == repeated_.end()) {
    if (repeated_.size() < kWatched) repeated_.emplace(key, Repeated{1, std::nullopt});
    return std::nullopt;
  }
  Repeated& repeated = found->second;
  if (repeated.times < kTimes && ++repeated.times == kTimes) ask(key);
  if (repeated.arrival) ++stats_.puts;
  return repeated.arrival;
}

void LearnedStores::ask(const Key& key) {
  const link::Learn question{link::make_header(link::Type::kLearn, sizeof question),
                             key.offset,
                             key.bytes,
                             key.counter,
                             static_cast<std::uint32_t>(asked_.size()),
                             0};
  asked_.push_back(&repeated_.at(key));  // elements of the map stay where they are
  link_.send(key.to, std::as_bytes(std::span(&question, 1)));
}

bool LearnedStores::take_question(Rank from, const link::Learn& packet) {
  if (!one_sided_.in_segment(packet.offset, packet.size) ||
      !one_sided_.in_segment(packet.counter, sizeof packet.counter)) {
    return false;
  }
  link::Learn answer = packet;
  answer.head.type = link::Type::kLearned;
  answer.number = kRefused;
  if (targets_.size() < kNumbers) {
    answer.number = static_cast<std::uint32_t>(targets_.size());
    targets_.push_back({packet.counter, packet.size});
  }
  link_.send(from, std::as_bytes(std::span(&answer, 1)));
  return true;
}

bool LearnedStores::take_answer(const link::Learn& packet) {
  if (packet.question >= asked_.size()) return false;
  if (packet.number == kRefused) return true;
  if (packet.number >= kNumbers) return false;
  asked_[packet.question]->arrival = packet.number << 16;
  ++stats_.channels;
  return true;
}

void LearnedStores::arrived(std::uint32_t arrival) {
  const std::uint32_t number = arrival >> 16;
  if (number >= targets_.size()) return;  // told by somebody who made it up
  one_sided_.count(targets_[number].counter, targets_[number].bytes);
}

}  // namespace am
