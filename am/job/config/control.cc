#include "am/job/config/control.h"

namespace am {

// The word of the launcher's barrier changes, too: who waits there looks who has died.
void DeathNotices::post(Rank rank) noexcept {
  // pairs with: is_dead(); what is known of a death orders nothing else
  control_rank(control_, rank).state.store(RankState::kDead, std::memory_order_release);
  // pairs with: count(); whoever sees the count sees who it is
  control_.deaths.fetch_add(1, std::memory_order_release);
  futex_wake_all(control_.deaths);
  // pairs with: BootstrapLaunch::barrier_without_dead()
  control_.epoch.fetch_add(1, std::memory_order_release);
  futex_wake_all(control_.epoch);
}

// Relaxed: who started has written nothing that the launcher reads because of it. Who is in a job
// after those that have started is at its start.
bool DeathNotices::can_go_on() const noexcept {
  const std::uint32_t started = control_.started.load(std::memory_order_relaxed);
  if (started == 0) return false;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (is_in_job_after(started, control_rank(control_, rank))) return false;
  }
  return true;
}

void DeathNotices::start(Rank rank) noexcept {
  const std::uint32_t finished =
      control_rank(control_, rank).finished.load(std::memory_order_relaxed);
  control_.started.store(finished + 1, std::memory_order_relaxed);
}

bool DeathNotices::is_dead(Rank rank) const noexcept {
  // pairs with: post()
  return control_rank(control_, rank).state.load(std::memory_order_acquire) == RankState::kDead;
}

bool DeathNotices::has_finished(Rank rank) const noexcept {
  // pairs with: BootstrapLaunch::finished()
  return control_rank(control_, rank).state.load(std::memory_order_acquire) == RankState::kFinished;
}

bool DeathNotices::nobody_needs(Rank rank) const noexcept {
  const auto finished = [this](Rank one) {
    // pairs with: BootstrapLaunch::finished()
    return control_rank(control_, one).finished.load(std::memory_order_acquire);
  };
  const std::uint32_t jobs = finished(rank);
  for (Rank other = 0; other < size(); ++other) {
    // A process may be in its next job already.
    if (static_cast<std::int32_t>(finished(other) - jobs) < 0 && !is_dead(other)) return false;
  }
  return true;
}

pid_t DeathNotices::pid(Rank rank) const noexcept {
  return control_rank(control_, rank).pid.load(std::memory_order_relaxed);
}

void DeathNotices::wait(std::uint32_t seen) const noexcept { futex_wait(control_.deaths, seen); }

void DeathNotices::wake() noexcept { futex_wake_all(control_.deaths); }

}  // namespace am
