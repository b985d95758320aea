// The simulation finds what it is there to find: each of some errors, planted into a copy of the
// window, within a few hundred seeds.
#include "tests/am/link/datagram/window/planted.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/am/link/datagram/window/simulation.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

constexpr std::uint64_t kSeeds = 500;

struct Case {
  Bug bug;
  const char* name;
};

class Planted : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { planted_bug = GetParam().bug; }
  void TearDown() override { planted_bug = Bug::kNone; }
};

TEST_P(Planted, is_found) {
  for (std::uint64_t i = 0; i < kSeeds; ++i) {
    const std::string failure = Simulation(test::seed() + i).run().failure;
    if (failure.empty()) continue;
    std::printf("found by seed %llu: %s\n", static_cast<unsigned long long>(test::seed() + i),
                failure.c_str());
    return;
  }
  FAIL() << kSeeds << " seeds find nothing";
}

INSTANTIATE_TEST_SUITE_P(Bugs, Planted,
                         testing::Values(Case{Bug::kAckOneTooMany, "ack_one_too_many"},
                                         Case{Bug::kDuplicateDelivered, "duplicate_delivered"},
                                         Case{Bug::kTimeoutNotRestarted, "timeout_not_restarted"},
                                         Case{Bug::kEarlyForgotten, "early_forgotten"},
                                         Case{Bug::kOldIncarnation, "old_incarnation"},
                                         Case{Bug::kRepeatedInNetwork, "repeated_in_network"},
                                         Case{Bug::kSelectiveShifted, "selective_shifted"},
                                         Case{Bug::kWindowIgnored, "window_ignored"},
                                         Case{Bug::kNeverDead, "never_dead"}),
                         [](const auto& info) { return std::string(info.param.name); });

// That the simulation finds nothing in the window itself is simulation_test.
TEST(NothingPlanted, is_found) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(Simulation(test::seed() + i).run().failure, "") << "seed " << test::seed() + i;
  }
}

}  // namespace
}  // namespace am::link::window
