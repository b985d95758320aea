#include "am/channel/numbers.h"

#include <algorithm>
#include <mutex>

#include "am/channel/receivers.h"

namespace am {
namespace {

std::vector<shmem::ArrivalPair> pairs_of(const Router& router) {
  std::vector<shmem::ArrivalPair> pairs;
  for (const Rank rank : router.near_ranks()) {
    if (const auto pair = router.arrival_pair(rank)) pairs.push_back(*pair);
  }
  return pairs;
}

}  // namespace

ChannelNumbers::ChannelNumbers(Router& router)
    : router_(router), board_(router.self().header->puts) {}

void ChannelNumbers::add() {
  const std::lock_guard inside(lock_);
  if (owners_++ == 0) arrivals_.emplace(board_, router_.fence(), pairs_of(router_));
}

void ChannelNumbers::remove(ChannelReceivers& receivers) noexcept {
  const std::lock_guard inside(lock_);
  for (std::size_t number = 0; number < ends_.size(); ++number) {
    if (ends_[number] == nullptr || ends_[number]->owner != &receivers) continue;
    ends_[number] = nullptr;
    free_.push_back(static_cast<std::uint16_t>(number));
  }
  if (--owners_ != 0) return;
  arrivals_.reset();
  ends_.clear();
  free_.clear();
}

bool ChannelNumbers::open(End& end) {
  const std::lock_guard inside(lock_);
  std::uint16_t number = 0;
  if (ends_.size() < shmem::ArrivalBoard::kNumbers) {  // rather than one that has had a channel
    number = static_cast<std::uint16_t>(ends_.size());
    ends_.push_back(nullptr);
  } else {
    if (free_.empty()) return false;
    number = free_.front();
    free_.pop_front();
  }
  // The board remembers the last one, of an earlier bundle, too.
  // No partner: this process alone writes it, under the lock or as the owner of the number.
  const std::uint64_t last = board_.states[number].load(std::memory_order_relaxed);
  end.handle.number = number;
  end.handle.generation = shmem::Arrival::of(last).generation;
  if (++end.handle.generation == 0) ++end.handle.generation;  // 0 is of no channel
  ends_[number] = &end;
  return true;
}

void ChannelNumbers::close(const End& end) noexcept {
  const std::lock_guard inside(lock_);
  ends_[end.handle.number] = nullptr;
  say(end, detail::State::kClosed);
  free_.push_back(end.handle.number);
}

void ChannelNumbers::say(const End& end, detail::State state) noexcept {
  const shmem::Arrival word{static_cast<std::uint16_t>(state), end.handle.generation, end.arrived};
  // pairs with: ChannelSenders::open_near(), check() and put_near(), and ChannelSeats::seen()
  board_.states[end.handle.number].store(word.word(), std::memory_order_release);
}

ChannelNumbers::End* ChannelNumbers::find_inside(std::uint32_t arrival) const noexcept {
  const std::uint16_t number = detail::number_of(arrival);
  End* const end = number < ends_.size() ? ends_[number] : nullptr;
  return end != nullptr && end->handle.generation == detail::generation_of(arrival) ? end : nullptr;
}

// Another owner's may end as soon as the lock is released.
ChannelNumbers::End* ChannelNumbers::find(std::uint32_t arrival,
                                          const ChannelReceivers& owner) noexcept {
  const std::lock_guard inside(lock_);
  End* const end = find_inside(arrival);
  return end != nullptr && end->owner == &owner ? end : nullptr;
}

int ChannelNumbers::poll(ChannelReceivers& by) {
  const std::unique_lock inside(lock_, std::try_to_lock);
  if (!inside) return 0;
  const bool alone = lock_.biased();
  return arrivals_->poll([&](shmem::Arrival arrival) { route(by, arrival, alone); });
}

// A put on a channel that is closed is the finder's to report.
[[gnu::always_inline]] inline void ChannelNumbers::route(ChannelReceivers& by,
                                                         shmem::Arrival arrival, bool alone) {
  End* const end = find_inside(detail::arrival_of(arrival));
  ChannelReceivers& owner = end != nullptr ? *end->owner : by;
  if (alone && &owner == &by) [[likely]]
    return by.arrive(end, arrival);
  owner.leave(arrival);
  // The owner may be about to sleep; it has looked before this thread took the word.
  if (&owner != &by) router_.notify(router_.rank());
}

bool ChannelNumbers::has_arrival() {
  const std::lock_guard inside(lock_);
  return arrivals_->has_arrival();
}

void ChannelNumbers::take_left(ChannelReceivers& receivers, std::vector<shmem::Arrival>& to) {
  const std::lock_guard inside(lock_);
  std::vector<shmem::Arrival>& left = receivers.left_;
  to.insert(to.end(), left.begin(), left.end());
  left.clear();
  receivers.has_left_.store(false, std::memory_order_relaxed);
}

std::size_t ChannelNumbers::watched() {
  const std::lock_guard inside(lock_);
  return arrivals_->watched();
}

}  // namespace am
