// A job of processes that are all on different nodes, in one program and on a simulated network:
//
//   am::sim::run({.seed = 7}, 3, [](am::sim::Process& process) { ... });
//
// Everything above the link is what every program uses. A seed decides what happens when, so the
// same seed does the same again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "am/collective/barrier.h"
#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/route/router.h"
#include "tests/am/sim/network.h"
#include "tests/am/sim/schedule.h"

namespace am::sim {

class Process final : public Exchange {
 public:
  static constexpr std::size_t kSegment = 1 << 18;

  // What the processes of a job share.
  struct Shared {
    Schedule& schedule;
    Network& network;
    std::uint32_t processes;
    // What each has passed to exchange_bytes(), by how often it has, and rank.
    std::map<std::uint64_t, std::map<Rank, std::vector<std::byte>>> exchanged;
  };

  Process(Shared& shared, Rank rank);

  Rank rank() const noexcept { return router_.rank(); }
  std::uint32_t size() const noexcept { return router_.size(); }
  Rank right() const noexcept { return (rank() + 1) % size(); }
  Rank left() const noexcept { return (rank() + size() - 1) % size(); }
  std::span<std::byte> segment() const noexcept { return {router_.segment(), kSegment}; }
  Router& router() noexcept { return router_; }
  am::Process& process() noexcept { return *process_; }
  Bundle& bundle() noexcept { return *bundle_; }
  std::mt19937_64& random() noexcept { return shared_.schedule.random(); }
  // Less than `n`.
  std::uint64_t any(std::uint64_t n) noexcept { return random()() % n; }
  const Network::Stats& network() const noexcept { return shared_.network.stats(); }

  void barrier();
  Barrier& whole_barrier() noexcept { return *barrier_; }
  // The last barrier: nobody expects anything afterwards.
  void finish();
  // Polls, and lets others go on.
  void poll();

 private:
  std::vector<std::vector<std::byte>> exchange_bytes(std::span<const std::byte> mine,
                                                     Call call) override;

  Shared& shared_;
  Router router_;
  std::optional<am::Process> process_;
  std::optional<Barrier> barrier_;
  std::unique_ptr<Bundle> bundle_;
  std::uint64_t exchanges_ = 0;
};

struct Options {
  std::uint64_t seed = 1;
  NetworkOptions network = {};
};

// Runs `body` as a job of so many processes.
void run(const Options& options, std::uint32_t processes,
         const std::function<void(Process&)>& body);

}  // namespace am::sim
