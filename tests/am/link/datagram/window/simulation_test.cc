// The window in every weather: as many seeds as --seeds says, from --seed on; each is a run of its
// own, and a run alone is --seed=N --seeds=1.
#include "tests/am/link/datagram/window/simulation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/support/seed.h"

namespace am::link::window {
namespace {

std::uint64_t seeds = 400;

TEST(Simulation, packets_come_once_in_order_and_whole_in_every_weather) {
  Counters all;
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
  for (std::uint64_t i = 0; i < seeds; ++i) {
    const std::uint64_t seed = test::seed() + i;
    const Simulation::Result result = Simulation(seed).run();
    ASSERT_EQ(result.failure, "") << "the same again with --seed=" << seed << " --seeds=1";
    packets += result.packets;
    lost += result.lost;
    all.data += result.counters.data;
    all.repeated += result.counters.repeated;
    all.timeouts += result.counters.timeouts;
    all.duplicates += result.counters.duplicates;
    all.early += result.counters.early;
    all.old += result.counters.old;
    all.stale += result.counters.stale;
    all.malformed += result.counters.malformed;
    all.forged += result.counters.forged;
    all.no_room += result.counters.no_room;
  }
  std::printf(
      "%llu runs: %llu packets in %llu datagrams, %llu of them again; lost %llu; dropped: "
      "duplicates %llu, damaged %llu, of an earlier life %llu, stale %llu, impossible %llu, no "
      "room "
      "%llu; "
      "early %llu; timeouts %llu\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(packets),
      static_cast<unsigned long long>(all.data), static_cast<unsigned long long>(all.repeated),
      static_cast<unsigned long long>(lost), static_cast<unsigned long long>(all.duplicates),
      static_cast<unsigned long long>(all.forged), static_cast<unsigned long long>(all.old),
      static_cast<unsigned long long>(all.stale), static_cast<unsigned long long>(all.malformed),
      static_cast<unsigned long long>(all.no_room), static_cast<unsigned long long>(all.early),
      static_cast<unsigned long long>(all.timeouts));
  if (seeds < 400) return;
  // The weather was as bad as it is meant to be.
  for (const std::uint64_t count : {lost, all.repeated, all.timeouts, all.duplicates, all.early,
                                    all.old, all.stale, all.malformed, all.forged, all.no_room}) {
    EXPECT_GT(count, seeds / 100);
  }
}

TEST(Simulation, a_seed_decides_everything_and_two_seeds_differ) {
  const std::uint64_t first = Simulation(test::seed()).run().order;
  EXPECT_EQ(Simulation(test::seed()).run().order, first);
  EXPECT_NE(Simulation(test::seed() + 1).run().order, first);
}

}  // namespace
}  // namespace am::link::window

int main(int argc, char** argv) {
  const auto given = test::take_seed(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kSeeds = "--seeds=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word.starts_with(kSeeds)) {
      am::link::window::seeds = std::strtoull(argv[i] + kSeeds.size(), nullptr, 10);
    }
  }
  test::set_seed(given.value_or(test::kUsualSeed));
  return RUN_ALL_TESTS();
}
