// How much of a network's rate is left when it loses datagrams, in virtual time: a model of a
// network with a rate, a delay and a socket, so that nothing but the window decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <vector>

#include "am/link/datagram/window/peer.h"
#include "tests/am/link/datagram/window/end.h"
#include "tests/am/link/datagram/window/random.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

struct Network {
  std::int64_t interval_ns;  // a datagram takes so long at the slowest place
  std::int64_t delay_ns;     // one way
  unsigned lost;             // of 1,000, both ways
};

// Bytes a microsecond from one process to another that always has more to send.
double goodput(const Network& network) {
  constexpr std::int64_t kStepNs = 1'000;  // between two polls of a process
  constexpr std::int64_t kEndNs = 300'000'000;
  Random random(::test::seed());
  End ends[2] = {End(0), End(1)};
  struct Carried {
    std::int64_t at_ns;
    std::vector<std::byte> bytes;
  };
  std::deque<Carried> way[2];  // to each end
  std::int64_t free_ns[2] = {};
  std::size_t delivered = 0;
  for (std::int64_t now = kStepNs; now < kEndNs; now += kStepNs) {
    while (ends[0].peer().queued() < 64) ends[0].put(1408);
    for (int me = 0; me < 2; ++me) {
      for (; !way[me].empty() && way[me].front().at_ns <= now; way[me].pop_front()) {
        delivered += ends[me].receive(way[me].front().bytes, now);
      }
      while (const Outgoing next = ends[me].peer().prepare(now)) {
        const int other = 1 - me;
        free_ns[other] = std::max(free_ns[other], now) + network.interval_ns;
        if (random.below(1'000) >= network.lost) {
          way[other].push_back(
              {free_ns[other] + network.delay_ns, {next.bytes.begin(), next.bytes.end()}});
        }
        ends[me].peer().sent(next, false);
      }
    }
  }
  return static_cast<double>(delivered) / (kEndNs / 1e3);
}

class Goodput : public testing::TestWithParam<Network> {};

TEST_P(Goodput, losses_take_little_more_than_what_they_lose) {
  Network network = GetParam();
  const double none = goodput(network);
  network.lost = 10;
  const double one = goodput(network);
  network.lost = 100;
  const double ten = goodput(network);
  std::printf("a datagram in %lld ns, %lld ns away: %.0f MB/s; 1 %% lost %.2f of it, 10 %% %.2f\n",
              static_cast<long long>(network.interval_ns), static_cast<long long>(network.delay_ns),
              none, one / none, ten / none);
  EXPECT_GT(none, 0.95 * 1408 / static_cast<double>(network.interval_ns) * 1e3);
  EXPECT_GE(one / none, 0.85);
  EXPECT_GE(ten / none, 0.4);
}

INSTANTIATE_TEST_SUITE_P(Networks, Goodput,
                         testing::Values(Network{2'000, 3'000, 0}, Network{2'000, 10'000, 0},
                                         Network{10'000, 30'000, 0}));

}  // namespace
}  // namespace am::link::window
