#include "tests/am/sim/schedule.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace am::sim {

void Schedule::give_up(const char* sentence) const noexcept {
  std::fprintf(stderr, "simulation with seed %llu (--seed): %s\n",
               static_cast<unsigned long long>(seed_), sentence);
  std::fflush(nullptr);
  std::_Exit(1);
}

// Chooses who is next.
void Schedule::pass_on(std::unique_lock<std::mutex>&) noexcept {
  turn_ = alive_.empty() ? kNobody : alive_[random_() % alive_.size()];
  turn_changed_.notify_all();
}

void Schedule::yield() noexcept {
  if (++idle_turns_ == kIdleTurns) give_up("all processes wait, and nothing is under way");
  std::unique_lock lock(mutex_);
  const std::uint32_t me = turn_;
  pass_on(lock);
  turn_changed_.wait(lock, [&] { return turn_ == me; });
}

void Schedule::run(std::uint32_t processes, const std::function<void(std::uint32_t)>& body) {
  const auto process = [&](std::uint32_t rank) {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == rank; });
    lock.unlock();
    try {
      body(rank);
    } catch (const std::exception& error) {
      give_up(error.what());
    }
    progressed();
    lock.lock();
    std::erase(alive_, rank);
    pass_on(lock);
  };
  std::vector<std::thread> threads;
  {
    std::unique_lock lock(mutex_);
    for (std::uint32_t rank = 0; rank < processes; ++rank) {
      alive_.push_back(rank);
      threads.emplace_back(process, rank);
    }
    pass_on(lock);
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace am::sim
