#include <algorithm>
#include <iterator>

#include "am/core/dispatch.h"
#include "am/core/far/far.h"
#include "am/core/parts.h"
#include "am/core/rows.h"
#include "am/route/router.h"

namespace am {

void Alerts::add_gone(std::uint32_t to) {
  gone_.push_back(to);
  look_again();
}

void Alerts::forget(std::uint32_t to) noexcept { std::erase(gone_, to); }

template <class Access>
int Alerts::attend() {
  if (attending_) return 0;
  attending_ = true;
  const Finally leave([this] { attending_ = false; });
  const std::uint64_t alerts = bell_.alerts();
  int count = alerts != scanned_ ? search<Access>(alerts) : 0;
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    const std::uint32_t to = gone_[i];
    shmem::Outbox* const box = parts_.outgoing.box_at(to);
    // Another thread may have mapped this index anew.
    if (box == nullptr || !box->gone() || box->in_flight() == 0) continue;
    count += box->abandon<Access::kThreads>(Replies<Access>(parts_.endpoint, to));
  }
  if (parts_.far) count += parts_.far->return_unreachable();
  seen_ = is_settled() && scanned_ == alerts ? alerts : kNever;
  return count;
}
template int Alerts::attend<OneThread>();
template int Alerts::attend<AnyThread>();

// In a copy of the list, as callbacks and other threads connect and unmap meanwhile. What another
// thread is at is skipped, and searched by a later poll.
template <class Access>
int Alerts::search(std::uint64_t alerts) {
  int count = bury_dead<Access>();
  find_gone();
  bool all = !has_unburied();
  const std::vector<std::uint32_t> connected = parts_.outgoing.connected();
  for (const std::uint32_t to : connected) {
    shmem::Outbox* const box = parts_.outgoing.box_at(to);
    if (box == nullptr) continue;
    box->take_skipped();
    count += box->take_returned<Access::kThreads>(Replies<Access>(parts_.endpoint, to));
    all &= !box->take_skipped();
  }
  if (all) scanned_ = alerts;
  return count;
}

bool Alerts::is_settled() const noexcept {
  return gone_.empty() && !(parts_.far && parts_.far->has_unreachable());
}

bool Alerts::has_unburied() const noexcept {
  const Deaths* const deaths = parts_.bundle->router().deaths();
  return deaths != nullptr && deaths->count() != buried_;
}

template <class Access>
int Alerts::bury_dead() {
  if (!has_unburied()) return 0;
  const Router& router = parts_.bundle->router();
  const std::uint32_t deaths = router.deaths()->count();
  int count = 0;
  bool all = true;
  for (Rank rank = 0; rank < router.size(); ++rank) {
    const pid_t pid = router.deaths()->pid(rank);
    if (pid == 0 || !router.is_near(rank)) continue;
    all &= parts_.incoming.mailbox().bury<Access::kThreads>(pid, count,
                                                            Arrivals<Access>(parts_.endpoint));
  }
  if (parts_.far) parts_.far->bury_dead();
  if (all) buried_ = deaths;
  return count;
}

void Alerts::find_gone() noexcept {
  const Outgoing& outgoing = parts_.outgoing;
  if (const Router& router = parts_.bundle->router(); router.deaths() != nullptr) {
    for (const std::uint32_t to : outgoing.connected()) {
      if (router.is_dead(parts_.translations[to].name.rank)) outgoing.box_at(to)->owner_died();
    }
  }
  gone_.clear();
  std::ranges::copy_if(outgoing.connected(), std::back_inserter(gone_),
                       [&](std::uint32_t to) { return outgoing.box_at(to)->gone(); });
}

bool Alerts::would_find() noexcept {
  const Outgoing& outgoing = parts_.outgoing;
  const auto any = [&](const std::vector<std::uint32_t>& indices, auto&& is) {
    return std::ranges::any_of(indices, [&](std::uint32_t to) { return is(*outgoing.box_at(to)); });
  };
  using Box = const shmem::Outbox&;
  if (attending_ || any(outgoing.connected(), [](Box box) { return box.busy(); })) return false;
  const std::uint64_t alerts = bell_.alerts();
  if (alerts != scanned_) {
    if (has_unburied()) return true;
    find_gone();
    if (any(outgoing.connected(), [](Box box) { return box.has_returned(); })) return true;
    scanned_ = alerts;
    seen_ = is_settled() ? alerts : kNever;
  }
  if (parts_.far && parts_.far->has_unreachable()) return true;
  return any(gone_, [](Box box) { return box.in_flight() != 0; });
}

}  // namespace am
