#include "am/job/config/death_notices.h"

#include "am/job/config/futex.h"

namespace am {

// The word of the launcher's barrier changes, too: nobody waits there for the dead.
void DeathNotices::post(Rank rank) noexcept {
  // pairs with: is_dead(), needs_nobody(); what is known of a death orders nothing else
  control_rank(control_, rank).state.store(RankState::kDead, std::memory_order_release);
  // pairs with: count(); whoever sees the count sees who it is
  control_.deaths.fetch_add(1, std::memory_order_release);
  futex_wake_all(control_.deaths);
  // pairs with: BootstrapLaunch::barrier()
  control_.epoch.fetch_add(Control::kDeath, std::memory_order_release);
  futex_wake_all(control_.epoch);
}

bool DeathNotices::started() const noexcept {
  // No partner: who started has written nothing that the launcher reads because of it.
  return control_.started.load(std::memory_order_relaxed) != 0;
}

void DeathNotices::start() noexcept { control_.started.store(1, std::memory_order_relaxed); }

bool DeathNotices::is_dead(Rank rank) const noexcept {
  // pairs with: post()
  return control_rank(control_, rank).state.load(std::memory_order_acquire) == RankState::kDead;
}

bool DeathNotices::needs_nobody(Rank rank) const noexcept {
  // pairs with: BootstrapLaunch::finished(), post()
  const RankState state = control_rank(control_, rank).state.load(std::memory_order_acquire);
  return state == RankState::kFinished || state == RankState::kDead;
}

pid_t DeathNotices::pid(Rank rank) const noexcept {
  return control_rank(control_, rank).pid.load(std::memory_order_relaxed);
}

void DeathNotices::wait(std::uint32_t seen) const noexcept { futex_wait(control_.deaths, seen); }

void DeathNotices::wake() noexcept { futex_wake_all(control_.deaths); }

}  // namespace am
