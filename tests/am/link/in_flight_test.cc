// Who may have how much in flight: pure logic, against a model that counts.
#include "am/link/in_flight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "tests/support/seed.h"

namespace am::link {
namespace {

constexpr InFlight::Limits kLimits{.reserved = 2, .per_peer = 5, .shared = 7};

TEST(InFlightOf, one_peer_ends_at_its_own_limit) {
  InFlight all(kLimits);
  InFlight::Share peer;
  for (std::uint32_t i = 0; i < kLimits.per_peer; ++i) {
    ASSERT_TRUE(all.available(peer));
    all.take(peer);
  }
  EXPECT_FALSE(all.available(peer));
  EXPECT_EQ(all.total(), kLimits.per_peer);
  all.give_back(peer);
  EXPECT_TRUE(all.available(peer));
}

TEST(InFlightOf, a_peer_that_comes_late_has_its_reserve) {
  InFlight all(kLimits);
  std::array<InFlight::Share, 20> greedy;
  for (InFlight::Share& peer : greedy) {
    while (all.available(peer)) all.take(peer);
  }
  InFlight::Share late;
  for (std::uint32_t i = 0; i < kLimits.reserved; ++i) {
    ASSERT_TRUE(all.available(late));
    all.take(late);
  }
  EXPECT_FALSE(all.available(late));
  EXPECT_EQ(all.total(), InFlight::most(kLimits, greedy.size() + 1));
}

TEST(InFlightOf, many_peers_is_what_a_model_says) {
  std::mt19937_64 random(::test::seed());
  InFlight all(kLimits);
  std::array<InFlight::Share, 6> peers;
  std::array<std::uint32_t, peers.size()> model{};
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t p = random() % peers.size();
    const auto beyond = [](std::uint32_t n) {
      return n > kLimits.reserved ? n - kLimits.reserved : 0;
    };
    const std::uint32_t shared =
        std::accumulate(model.begin(), model.end(), 0u,
                        [&](std::uint32_t sum, std::uint32_t n) { return sum + beyond(n); });
    const bool room =
        model[p] < kLimits.reserved || (model[p] < kLimits.per_peer && shared < kLimits.shared);
    ASSERT_EQ(all.available(peers[p]), room) << "step " << i;
    ASSERT_EQ(all.total(), std::accumulate(model.begin(), model.end(), 0u));
    if (room && random() % 3 != 0) {
      all.take(peers[p]);
      ++model[p];
    } else if (model[p] != 0) {
      all.give_back(peers[p]);
      --model[p];
    }
  }
}

TEST(InFlightOf, few_peers_is_bounded_by_what_each_may_have) {
  EXPECT_EQ(InFlight::most(kLimits, 1), 5u);
  EXPECT_EQ(InFlight::most(kLimits, 2), 10u);
  EXPECT_EQ(InFlight::most(kLimits, 3), 13u);
}

}  // namespace
}  // namespace am::link
