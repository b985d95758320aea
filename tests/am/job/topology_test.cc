// Which processors the ranks get, on machines that hwloc is told of.
#include "tools/splitcrun/topology.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>

namespace am::launcher {
namespace {

using testing::ElementsAre;

Processors range(int from, int to) {
  Processors all(static_cast<std::size_t>(to - from));
  std::iota(all.begin(), all.end(), from);
  return all;
}

class Topology : public testing::Test {
 protected:
  ~Topology() override { unsetenv("HWLOC_SYNTHETIC"); }

  // As hwloc finds them in such a machine; skips the case where it is not installed.
  static std::vector<Processors> domains(const char* machine, Domain kind,
                                         const Processors& allowed) {
    setenv("HWLOC_SYNTHETIC", machine, 1);
    const auto found = find_domains(kind, allowed);
    EXPECT_TRUE(found.has_value());
    return found.value_or(std::vector<Processors>{});
  }
};

constexpr const char* kServer = "package:2 numa:2 l3:2 core:2 pu:2";

TEST_F(Topology, knows_what_processors_share) {
  const Processors all = range(0, 32);
  EXPECT_THAT(domains(kServer, Domain::kSocket, all), ElementsAre(range(0, 16), range(16, 32)));
  EXPECT_THAT(domains(kServer, Domain::kNuma, all),
              ElementsAre(range(0, 8), range(8, 16), range(16, 24), range(24, 32)));
  EXPECT_EQ(domains(kServer, Domain::kL3, all).size(), 8u);
  EXPECT_EQ(domains(kServer, Domain::kCore, all).size(), 16u);
}

TEST_F(Topology, counts_only_what_may_be_used) {
  const Processors some = {1, 2, 3, 17, 31};
  EXPECT_THAT(domains(kServer, Domain::kSocket, some),
              ElementsAre(Processors{1, 2, 3}, Processors{17, 31}));
  EXPECT_THAT(domains(kServer, Domain::kCore, some),
              ElementsAre(Processors{1}, Processors{2, 3}, Processors{17}, Processors{31}));
  EXPECT_THAT(domains(kServer, Domain::kNuma, {}), ElementsAre());
}

TEST_F(Topology, says_when_there_is_no_such_domain) {
  EXPECT_THAT(domains("package:1 core:2 pu:1", Domain::kL3, range(0, 2)), ElementsAre());
}

// Numbers that go round the sockets, as some systems give them.
TEST_F(Topology, puts_neighbouring_ranks_beside_each_other) {
  const auto cores =
      domains("package:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)", Domain::kCore, range(0, 8));
  EXPECT_THAT(give_cores(cores, 4, 1),
              ElementsAre(Processors{0}, Processors{2}, Processors{4}, Processors{6}));
}

// 4 cores with two hardware threads each, numbered as most systems do.
const std::vector<Processors> kCores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

TEST(GiveCores, gives_whole_cores_while_they_suffice) {
  EXPECT_THAT(give_cores(kCores, 2, 1), ElementsAre(Processors{0, 4}, Processors{1, 5}));
  EXPECT_THAT(give_cores(kCores, 2, 2),
              ElementsAre(Processors{0, 1, 4, 5}, Processors{2, 3, 6, 7}));
}

TEST(GiveCores, gives_hardware_threads_if_there_are_too_few_cores) {
  EXPECT_THAT(give_cores(kCores, 5, 1), ElementsAre(Processors{0}, Processors{1}, Processors{2},
                                                    Processors{3}, Processors{4}));
  EXPECT_THAT(give_cores(kCores, 2, 4),
              ElementsAre(Processors{0, 1, 2, 3}, Processors{4, 5, 6, 7}));
  EXPECT_THAT(give_cores({{0, 1, 2}, {3}}, 4, 1),
              ElementsAre(Processors{0}, Processors{3}, Processors{1}, Processors{2}));
}

TEST(GiveCores, gives_nothing_if_there_are_too_few) {
  EXPECT_THAT(give_cores(kCores, 9, 1), ElementsAre());
  EXPECT_THAT(give_cores(kCores, 2, 5), ElementsAre());
  EXPECT_THAT(give_cores(kCores, 4096, 65536), ElementsAre());
  EXPECT_THAT(give_cores({}, 1, 1), ElementsAre());
}

TEST(GiveCores, gives_each_processor_once) {
  for (std::uint32_t processes = 1; processes <= 8; ++processes) {
    for (std::uint32_t threads = 1; processes * threads <= 8; ++threads) {
      std::multiset<int> given;
      for (const Processors& one : give_cores(kCores, processes, threads)) {
        EXPECT_GE(one.size(), threads);
        given.insert(one.begin(), one.end());
      }
      EXPECT_GE(given.size(), processes * threads);
      EXPECT_EQ(std::set<int>(given.begin(), given.end()).size(), given.size());
    }
  }
}

TEST(Spread, gives_equal_blocks_of_neighbours) {
  const std::vector<Processors> two = {{0}, {1}};
  EXPECT_THAT(spread(two, 4), ElementsAre(two[0], two[0], two[1], two[1]));
  EXPECT_THAT(spread(two, 1), ElementsAre(two[0]));
  EXPECT_THAT(spread(two, 3), ElementsAre(two[0], two[0], two[1]));
  std::vector<Processors> eight;
  for (int i = 0; i < 8; ++i) eight.push_back({i});
  EXPECT_THAT(spread(eight, 4), ElementsAre(eight[0], eight[2], eight[4], eight[6]));
}

}  // namespace
}  // namespace am::launcher
