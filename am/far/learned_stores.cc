#include "am/far/learned_stores.h"

#include <span>
#include <utility>

namespace am {
namespace {

constexpr std::uint64_t kRefused = 0;

}  // namespace

std::size_t LearnedStores::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = key.to;
  for (const std::uint64_t part : {key.offset, key.bytes, key.counter}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::optional<std::uint64_t> LearnedStores::find(Rank to, std::uint64_t offset, std::uint64_t bytes,
                                                 std::uint64_t counter) {
  if (!enabled_ || bytes > link_.can().notified_write) return std::nullopt;
  const Key key{to, offset, bytes, counter};
  const auto found = repeated_.find(key);
  if (found == repeated_.end()) {
    if (repeated_.size() < kWatched) repeated_.emplace(key, Repeated{1, std::nullopt});
    return std::nullopt;
  }
  Repeated& repeated = found->second;
  if (repeated.times < kTimes && ++repeated.times == kTimes) ask(key);
  return repeated.word;
}

bool LearnedStores::try_put(const link::RmaAccess& put, link::Completion& completion) {
  if (!link_.try_access(put, completion)) return false;
  ++stats_.puts;
  return true;
}

void LearnedStores::ask(const Key& key) {
  const link::Learn question{link::make_header(link::Type::kLearn, sizeof question),
                             key.offset,
                             key.bytes,
                             key.counter,
                             asked_.size(),
                             0};
  asked_.push_back({key.to, &repeated_.at(key)});  // elements of the map stay where they are
  link_.send(key.to, std::as_bytes(std::span(&question, 1)));
}

bool LearnedStores::take_question(Rank from, const link::Learn& packet) {
  if (!one_sided_.in_segment(packet.offset, packet.size) ||
      !one_sided_.has_counter(packet.counter)) {
    return false;
  }
  link::Learn answer = packet;
  answer.head.type = link::Type::kLearned;
  answer.word = kRefused;
  if (targets_.size() < kNumbers) {
    answer.word = words_.add(static_cast<std::uint32_t>(targets_.size()), *this);
    targets_.push_back({packet.counter, packet.size});
  }
  link_.send(from, std::as_bytes(std::span(&answer, 1)));
  return true;
}

bool LearnedStores::take_answer(Rank from, const link::Learn& packet) {
  if (packet.question >= asked_.size() || asked_[packet.question].to != from) return false;
  Repeated* const repeated = std::exchange(asked_[packet.question].about, nullptr);
  if (repeated == nullptr) return false;
  if (packet.word == kRefused) return true;
  repeated->word = packet.word;
  ++stats_.channels;
  return true;
}

void LearnedStores::arrived(std::uint32_t arrival) {
  const Target& target = targets_[arrival];
  one_sided_.count(target.counter, target.bytes);
}

}  // namespace am
