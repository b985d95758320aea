// Polls of an endpoint: replies, requests, and what an alert announces.

#include <algorithm>
#include <iterator>

#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/process.h"
#include "am/core/rows.h"
#include "am/route/router.h"

namespace am {

// After an alert: finds endpoints of our translations that have ended, and what has come back.
int Endpoint::attend() {
  int count = 0;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    count += bury_dead<OneThread>();
    find_gone();
    for (std::size_t i = 0; i < connected_.size(); ++i) {
      const std::uint32_t to = connected_[i];
      count += boxes_[to]->take_returned(Replies<OneThread>(*this, to));
    }
    alerts_scanned_ = alerts;
  }
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    if (boxes_[to]->in_flight() != 0) count += boxes_[to]->abandon(Replies<OneThread>(*this, to));
  }
  if (far_) count += far_->return_unreachable();
  alerts_seen_ = is_settled() ? alerts : kNoAlert;
  return count;
}

bool Endpoint::is_settled() const noexcept {
  return gone_.empty() && !(far_ && far_->has_unreachable());
}

bool Endpoint::has_unburied() const noexcept {
  const Deaths* const deaths = bundle_->router().deaths();
  return deaths != nullptr && deaths->count() != buried_;
}

template <class Access>
int Endpoint::bury_dead() {
  if (!has_unburied()) return 0;
  const Router& router = bundle_->router();
  const std::uint32_t deaths = router.deaths()->count();
  int count = 0;
  bool all = true;
  for (Rank rank = 0; rank < router.size(); ++rank) {
    const pid_t pid = router.deaths()->pid(rank);
    if (pid == 0 || !router.is_near(rank)) continue;
    all &= mailbox_.bury<Access::kThreads>(pid, count, Arrivals<Access>(*this));
  }
  if (far_) far_->bury_dead();
  if (all) buried_ = deaths;
  return count;
}

void Endpoint::find_gone() noexcept {
  if (const Router& router = bundle_->router(); router.deaths() != nullptr) {
    for (const std::uint32_t to : connected_) {
      if (router.is_dead(translations_[to].name.rank)) boxes_[to]->owner_died();
    }
  }
  gone_.clear();
  std::ranges::copy_if(connected_, std::back_inserter(gone_),
                       [this](std::uint32_t to) { return boxes_[to]->gone(); });
}

void Endpoint::await(std::uint32_t to) {
  awaiting_.push_back(to);
  boxes_[to]->set_listed(true);
}

void Endpoint::drop_awaiting(std::size_t i) noexcept {
  boxes_[awaiting_[i]]->set_listed(false);
  awaiting_[i] = awaiting_.back();
  awaiting_.pop_back();
}

int Endpoint::poll() {
  int count = 0;
  if (bell_.alerts() != alerts_seen_) [[unlikely]]
    count += attend();
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];
    try {
      count += box.reap(Replies<OneThread>(*this, to));
    } catch (...) {
      if (box.awaited() == 0) drop_awaiting(i);
      throw;
    }
    if (box.awaited() == 0) {
      drop_awaiting(i);
    } else {
      ++i;
    }
  }
  // A poll that has found replies returns at once, so that a caller who waits for one does not pay
  // for polling the requests as well; these have their turn in the next poll.
  if (count != 0 && !requests_next_) {
    requests_next_ = true;
    return count;
  }
  requests_next_ = false;
  return count + mailbox_.poll(Arrivals<OneThread>(*this));
}

// The same steps, with others in between: while a handler runs, other threads send, poll and unmap.
// So what is gone through is looked up again after each step, and what another thread is at is left
// out: that thread wakes who sleeps meanwhile.
int Endpoint::poll_among_threads() {
  const Bundle::Count visit(visits_);
  int count = 0;
  if (bell_.alerts() != alerts_seen_) [[unlikely]]
    count += attend_among_threads();
  count += reap_among_threads();
  if (count != 0 && !requests_next_) {
    requests_next_ = true;
    return count;
  }
  requests_next_ = false;
  return count + mailbox_.poll<AnyThread::kThreads>(Arrivals<AnyThread>(*this));
}

int Endpoint::reap_among_threads() {
  int count = 0;
  for (std::size_t i = 0; i < awaiting_.size();) {
    const std::uint32_t to = awaiting_[i];
    shmem::Outbox& box = *boxes_[to];  // stays while it has something that this thread handles
    const auto is_done = [&] {
      return i < awaiting_.size() && awaiting_[i] == to && box.awaited() == 0;
    };
    try {
      count += box.reap<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
    } catch (...) {
      if (is_done()) drop_awaiting(i);
      throw;
    }
    if (is_done()) {
      drop_awaiting(i);
    } else {
      ++i;
    }
  }
  return count;
}

int Endpoint::attend_among_threads() {
  if (attending_) return 0;
  struct Leave {
    ~Leave() { attending = false; }
    bool& attending;
  } leave{attending_};
  attending_ = true;
  const std::uint64_t alerts = bell_.alerts();
  int count = alerts != alerts_scanned_ ? search_among_threads(alerts) : 0;
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    shmem::Outbox* const box = box_at(to);
    // Another thread may have mapped this index anew.
    if (box == nullptr || !box->gone() || box->in_flight() == 0) continue;
    count += box->abandon<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
  }
  if (far_) count += far_->return_unreachable();
  alerts_seen_ = is_settled() && alerts_scanned_ == alerts ? alerts : kNoAlert;
  return count;
}

int Endpoint::search_among_threads(std::uint64_t alerts) {
  int count = bury_dead<AnyThread>();
  find_gone();
  bool all = !has_unburied();
  const std::vector<std::uint32_t> connected = connected_;
  for (const std::uint32_t to : connected) {
    shmem::Outbox* const box = box_at(to);
    if (box == nullptr) continue;
    box->take_skipped();
    count += box->take_returned<AnyThread::kThreads>(Replies<AnyThread>(*this, to));
    all &= !box->take_skipped();
  }
  if (all) alerts_scanned_ = alerts;
  return count;
}

// Whether attend() would find something. (What is another thread's turn is not searched here, and
// stays to be searched.)
bool Endpoint::has_returned() noexcept {
  const auto is_busy = [this](std::uint32_t to) { return boxes_[to]->busy(); };
  if (attending_ || std::ranges::any_of(connected_, is_busy)) return false;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != alerts_scanned_) {
    if (has_unburied()) return true;
    find_gone();
    if (std::ranges::any_of(connected_,
                            [this](std::uint32_t to) { return boxes_[to]->has_returned(); })) {
      return true;
    }
    alerts_scanned_ = alerts;
    alerts_seen_ = is_settled() ? alerts : kNoAlert;
  }
  if (far_ && far_->has_unreachable()) return true;
  return std::ranges::any_of(gone_,
                             [this](std::uint32_t to) { return boxes_[to]->in_flight() != 0; });
}

bool Endpoint::has_message() noexcept {
  for (const std::uint32_t to : awaiting_) {
    if (boxes_[to]->has_reply()) return true;
  }
  if (bell_.alerts() != alerts_seen_ && has_returned()) return true;
  return mailbox_.has_message();
}

}  // namespace am
