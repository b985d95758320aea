#include "tests/litmus/engine.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "tests/support/seed.h"

namespace litmus {
namespace {

using namespace splitc;

constexpr std::size_t kMemory = 2 << 20;  // bytes at each process
constexpr std::size_t kMostRounds = 512;  // of a batch, which has one placement
constexpr std::size_t kSlowRounds = 16;   // of one whose rounds take long
constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
constexpr std::size_t kReported = 3;

template <class T>
const T& one_of(const std::vector<T>& all, std::mt19937_64& random) {
  return all[random() % all.size()];
}

// What all processes know alike of where they are.
struct Machine {
  std::vector<std::uint32_t> nodes;  // by rank: the lowest rank of its node
  unsigned cores;                    // for all
};
// The first call is collective.
const Machine& machine() {
  static const Machine here = [] {
    std::uint32_t lowest = 0;
    while (!world().router().is_near(lowest)) ++lowest;
    return Machine{all_gather(lowest), all_reduce(std::thread::hardware_concurrency(), maximum())};
  }();
  return here;
}

Placement choose_placement(const Program& program, std::mt19937_64& random) {
  Placement placement;
  std::vector<std::uint32_t> ranks(procs());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::shuffle(ranks, random);
  ranks.resize(program.processes.size());
  placement.ranks = ranks;
  std::vector<unsigned> sizes = {1, 2, 4, 8};
  if (program.needs_words()) sizes = {4, 8};
  if (program.needs_eight_bytes()) sizes = {8};
  placement.bytes = one_of(sizes, random);
  const std::uint32_t node = machine().nodes[ranks[0]];
  const auto is_elsewhere = [&](std::uint32_t rank) { return machine().nodes[rank] != node; };
  placement.lockstep = std::ranges::any_of(ranks, is_elsewhere);
  placement.one_node = !placement.lockstep;
  for (const std::uint8_t location : program.locations) {
    const int home = program.home[location];
    const auto owner = home >= 0 ? ranks[static_cast<std::size_t>(home)]
                                 : static_cast<std::uint32_t>(random() % procs());
    placement.owners[location] = owner;
    placement.one_node = placement.one_node && !is_elsewhere(owner);
  }
  const bool far = !placement.one_node;
  placement.longest_pause = one_of(far ? std::vector<std::uint32_t>{0, 300, 3000, 30000}
                                       : std::vector<std::uint32_t>{0, 10, 50, 200, 1000},
                                   random);
  if (!collective_calls(program.processes[0]).empty()) placement.lockstep = true;
  return placement;
}

std::uint64_t rounds_of(const Placement& placement, const Rounds& asked) {
  if (!placement.one_node) return asked.far;
  const bool crowded = placement.ranks.size() > machine().cores;
  if (placement.lockstep || crowded) return asked.slow;
  return procs() > machine().cores ? asked.shared : asked.fast;
}

std::string describe(const Program& program, const Placement& placement) {
  std::string text = "processes at ranks";
  for (const std::uint32_t rank : placement.ranks) text += " " + std::to_string(rank);
  for (const std::uint8_t location : program.locations) {
    text += std::string(", ") + static_cast<char>('g' + location) + " at " +
            std::to_string(placement.owners[location]);
  }
  text += ", on nodes";
  for (const std::uint32_t node : machine().nodes) text += " " + std::to_string(node);
  return text + ", objects of " + std::to_string(placement.bytes) + " bytes, pauses up to " +
         std::to_string(placement.longest_pause);
}

}  // namespace

Engine::Engine()
    : memory_(procs(), kMemory),
      results_(procs(), kMostRounds * kRegisters),
      starts_(procs(), kLine) {
  machine();
}

Report Engine::run(const Program& program, const Rounds& asked) {
  Report report;
  std::seed_seq seeds{test::seed(), std::hash<std::string>()(program.test->program)};
  std::mt19937_64 random(seeds);
  const Lines lines(program);
  for (double done = 0; done < 1;) {
    const Placement placement = choose_placement(program, random);
    const std::uint64_t seed = random();
    const std::uint64_t all = rounds_of(placement, asked);
    const bool slow = all <= std::max(asked.slow, asked.far);
    const std::size_t rounds =
        std::min({slow ? kSlowRounds : kMostRounds, kMemory / lines.bytes_of(1), std::size_t{all}});
    std::memset(memory_.mine().data(), 0, lines.bytes_of(rounds));
    barrier();
    run_batch(program, placement, rounds, seed);
    all_store_sync();  // all is over, and visible to all
    if (my_proc() == 0) take_in(program, placement, rounds, report);
    barrier();
    done += static_cast<double>(rounds) / static_cast<double>(all);
  }
  return report;
}

void Engine::run_batch(const Program& program, const Placement& placement, std::size_t rounds,
                       std::uint64_t seed) {
  const auto mine = std::ranges::find(placement.ranks, my_proc());
  if (mine == placement.ranks.end()) {
    if (placement.lockstep) run_beside(program, rounds);
    start_ += rounds;
    return;
  }
  const auto number = static_cast<std::size_t>(mine - placement.ranks.begin());
  Process process(program, number, placement, memory_, rounds, messages_, seed + my_proc());
  for (std::size_t round = 0; round < rounds; ++round) {
    begin_round(placement);
    process.run_round(round);
  }
  process.show(results_.mine());
}

// A process of the job that has no part in the test makes the collective calls.
void Engine::run_beside(const Program& program, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    barrier();
    for (const Kind call : collective_calls(program.processes[0])) {
      if (call == Kind::kBarrier) barrier();
      if (call == Kind::kNotify) barrier_notify();
      if (call == Kind::kWait) barrier_wait();
      if (call == Kind::kAllCounted) all_store_sync();
    }
  }
}

void Engine::begin_round(const Placement& placement) {
  ++start_;
  if (placement.lockstep) return barrier();
  const auto start_of = [&](std::uint32_t rank) {
    return std::atomic_ref(*tolocal(starts_.on(rank)));
  };
  // pairs with: the loads below, in the other processes of the program
  start_of(my_proc()).store(start_, std::memory_order_release);
  for (const std::uint32_t rank : placement.ranks) {
    // pairs with: the store above
    for (int looks = 1; start_of(rank).load(std::memory_order_acquire) < start_; ++looks) {
      if (looks % 64 == 0) poll();  // messages of this round may be here
      if (looks > 2000) sched_yield();
    }
  }
}

void Engine::take_in(const Program& program, const Placement& placement, std::size_t rounds,
                     Report& report) const {
  std::vector<std::string> outcomes(rounds);
  std::vector<std::vector<char>> results;
  for (const std::uint32_t rank : placement.ranks) {
    bulk_read(std::span(results.emplace_back(rounds * kRegisters)), results_.on(rank));
  }
  for (const std::uint8_t reg : program.registers) {
    const std::vector<char>& from = results[program.process_of(reg)];
    for (std::size_t round = 0; round < rounds; ++round) {
      outcomes[round] += from[round * kRegisters + reg];
    }
  }
  const Lines lines(program);
  std::vector<std::byte> memory(rounds * lines.spacing);
  for (const std::uint8_t location : program.finals) {
    const auto first = static_cast<std::ptrdiff_t>(lines.first(location, rounds));
    bulk_read(std::span(memory), memory_.on(placement.owners[location]) + first);
    for (std::size_t round = 0; round < rounds; ++round) {
      outcomes[round] += digit_of({&memory[round * lines.spacing], placement.bytes});
    }
  }
  const Case& test = *program.test;
  const bool on_node = placement.one_node && *test.on_node != '\0';
  const char* const allowed = on_node ? test.on_node : test.allowed;
  for (std::size_t round = 0; round < rounds; ++round) {
    ++report.outcomes[outcomes[round]];
    if (fits(allowed, outcomes[round]) || report.forbidden.size() == kReported) continue;
    report.forbidden.push_back(outcomes[round] + " is none of " + allowed + ": round " +
                               std::to_string(round) + " with " + describe(program, placement));
  }
}

}  // namespace litmus
