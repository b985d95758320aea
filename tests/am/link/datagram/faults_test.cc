// What goes wrong goes wrong as often as it is asked for, and is the same for the same seed.
#include "am/link/datagram/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "tests/support/seed.h"

namespace am::link {
namespace {

constexpr std::uint64_t kSent = 100'000;

// What arrives of numbered datagrams, in order; ~0: one that was changed.
std::vector<std::uint64_t> pass(const FaultPlan& plan, Rank rank = 0) {
  Faults faults(plan, rank);
  std::vector<std::uint64_t> arrived;
  const auto note = [&](Rank to, std::span<const std::byte> bytes) {
    EXPECT_EQ(to, 3U);
    std::uint64_t words[2] = {};
    if (bytes.size() == sizeof words) std::memcpy(words, bytes.data(), sizeof words);
    arrived.push_back(bytes.size() == sizeof words && words[0] == words[1] ? words[0]
                                                                           : ~std::uint64_t{0});
  };
  std::int64_t now = 0;
  for (std::uint64_t i = 0; i < kSent; ++i, now += 10'000) {
    const std::uint64_t words[2] = {i, i};
    faults.pass(3, std::as_bytes(std::span(words)), now, note);
  }
  while (faults.next_ns() >= 0) {
    now = faults.next_ns();
    faults.release(now, note);
  }
  return arrived;
}

double share(std::uint64_t count) { return static_cast<double>(count) / kSent; }

TEST(Faults, none_change_nothing) {
  const auto arrived = pass({});
  ASSERT_EQ(arrived.size(), kSent);
  for (std::uint64_t i = 0; i < kSent; ++i) ASSERT_EQ(arrived[i], i);
  EXPECT_FALSE(FaultPlan{}.any());
}

TEST(Faults, as_many_are_lost_and_doubled_as_asked_for) {
  EXPECT_NEAR(share(pass({.drop = 50'000, .seed = test::seed()}).size()), 0.95, 0.005);
  EXPECT_NEAR(share(pass({.dup = 200'000, .seed = test::seed()}).size()), 1.2, 0.005);
}

TEST(Faults, as_many_are_changed_as_asked_for) {
  std::uint64_t changed = 0;
  for (const std::uint64_t one : pass({.corrupt = 100'000, .seed = test::seed()})) {
    changed += one == ~std::uint64_t{0} ? 1 : 0;
  }
  EXPECT_NEAR(share(changed), 0.1, 0.005);
}

TEST(Faults, as_many_are_overtaken_as_asked_for_and_all_arrive) {
  const auto arrived = pass({.reorder = 100'000, .seed = test::seed()});
  ASSERT_EQ(arrived.size(), kSent);
  std::uint64_t overtaken = 0;
  std::uint64_t highest = 0;
  for (const std::uint64_t one : arrived) {
    overtaken += one < highest ? 1 : 0;
    highest = std::max(highest, one);
  }
  EXPECT_NEAR(share(overtaken), 0.1, 0.005);
}

TEST(Faults, a_seed_decides_and_so_does_the_rank) {
  const FaultPlan plan{.drop = 200'000, .delay_ns = 100'000, .seed = test::seed()};
  EXPECT_EQ(pass(plan), pass(plan));
  EXPECT_NE(pass(plan, 0), pass(plan, 1));
}

}  // namespace
}  // namespace am::link
