#include "am/link/delayed/delayed_link.h"

#include <algorithm>
#include <utility>

#include "am/types/clock.h"
#include "am/types/earlier.h"

namespace am::link {
namespace {

constexpr std::size_t kCongested = 64;  // packets held for one process

}  // namespace

DelayedLink::DelayedLink(std::unique_ptr<Link> link, std::uint32_t size, std::int64_t delay_ns,
                         std::uint64_t seed)
    : link_(std::move(link)), delay_ns_(delay_ns), random_(seed), queues_(size) {}

std::byte* DelayedLink::claim(Rank, std::uint32_t bytes) {
  claimed_.resize(bytes);
  return claimed_.data();
}

void DelayedLink::commit(Rank to) {
  std::deque<Held>& queue = queues_[to];
  std::uniform_int_distribution<std::int64_t> delay(0, delay_ns_);
  const std::int64_t due = now_ns() + delay(random_);
  queue.push_back({queue.empty() ? due : std::max(due, queue.back().due_ns), claimed_});
  ++held_;
}

// Sends what is due.
void DelayedLink::release() {
  if (held_ == 0) return;
  const std::int64_t now = now_ns();
  for (Rank to = 0; to < queues_.size(); ++to) {
    std::deque<Held>& queue = queues_[to];
    for (; !queue.empty() && queue.front().due_ns <= now; queue.pop_front()) {
      link_->send(to, queue.front().packet);
      --held_;
    }
  }
}

void DelayedLink::forget(Rank dead) {
  held_ -= queues_[dead].size();
  queues_[dead].clear();
  link_->forget(dead);
}

bool DelayedLink::push() {
  release();
  return link_->push() && held_ == 0;
}

bool DelayedLink::congested(Rank to) const noexcept {
  return queues_[to].size() >= kCongested || link_->congested(to);
}

int DelayedLink::poll(PacketSink& sink) {
  release();
  return link_->poll(sink);
}

bool DelayedLink::fetch(PacketSink& sink) {
  release();
  return link_->fetch(sink);
}

std::int64_t DelayedLink::patience_ns() const noexcept {
  std::int64_t until = link_->patience_ns();
  if (held_ == 0) return until;
  const std::int64_t now = now_ns();
  for (const std::deque<Held>& queue : queues_) {
    if (queue.empty()) continue;
    const std::int64_t left = std::max<std::int64_t>(queue.front().due_ns - now, 0);
    until = earlier(until, left);
  }
  return until;
}

std::string DelayedLink::describe() const {
  return link_->describe() + ", packets late as SPLITC_FAULT says";
}

}  // namespace am::link
