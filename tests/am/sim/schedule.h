// Processes that take turns: threads of which one runs at a time, and a seed says which is next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <vector>

namespace am::sim {

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : seed_(seed), random_(seed) {}

  // Runs `body(rank)` for ranks 0 to `processes` - 1, until all have returned. What one of them
  // throws ends the program, with the seed.
  void run(std::uint32_t processes, const std::function<void(std::uint32_t)>& body);

  // By the process that runs: another one may have its turn.
  void yield() noexcept;
  // Something has happened. When so many turns pass without that the program ends: nothing ever
  // will.
  void progressed() noexcept { idle_turns_ = 0; }

  // Whoever runs may use it, so that the seed decides.
  std::mt19937_64& random() noexcept { return random_; }
  // True in one of `n` cases.
  bool one_in(unsigned n) noexcept { return random_() % n == 0; }

  // Ends the program: prints the sentence and the seed.
  [[noreturn]] void give_up(const char* sentence) const noexcept;

 private:
  static constexpr std::uint64_t kIdleTurns = 200'000;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  void pass_on(std::unique_lock<std::mutex>& lock) noexcept;

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  std::uint64_t idle_turns_ = 0;
  std::mutex mutex_;  // guards the rest
  std::condition_variable turn_changed_;
  std::vector<std::uint32_t> alive_;
  std::uint32_t turn_ = kNobody;
};

}  // namespace am::sim
