#include "examples/containers/hash_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using containers::distributed_map;
using Map = distributed_map<std::uint64_t, std::int64_t>;

// What this process keeps has to be what `expected` has of it.
void expect_equal(Map& map, const std::map<std::uint64_t, std::int64_t>& expected) {
  std::map<std::uint64_t, std::int64_t> mine;
  for (const auto& [key, value] : expected) {
    if (map.owner(key) == my_proc()) mine[key] = value;
  }
  std::map<std::uint64_t, std::int64_t> kept;
  map.for_all([&](std::uint64_t key, std::int64_t& value) { kept[key] = value; });
  EXPECT_EQ(kept, mine);
  EXPECT_EQ(map.size(), expected.size());
}

TEST(DistributedMap, finds_what_any_process_has_inserted) {
  Map map;
  const std::uint64_t me = my_proc();
  std::vector<future<bool>> all;
  for (std::uint64_t i = 0; i < 50; ++i) all.push_back(map.insert(me * 50 + i, -1));
  for (auto& is_new : all) EXPECT_TRUE(is_new.result());
  EXPECT_FALSE(map.insert(me * 50, 7).result());
  barrier();
  for (std::uint64_t key = 0; key < 50 * procs(); ++key) {
    EXPECT_EQ(map.find(key).result(), key % 50 == 0 ? 7 : -1);
  }
  EXPECT_EQ(map.find(50 * procs()).result(), std::nullopt);
  EXPECT_EQ(map.size(), 50 * procs());
}

TEST(DistributedMap, visits_change_the_value_where_it_is) {
  Map map;
  const auto add = [](std::int64_t& value, std::int64_t x) { return value += x; };
  std::int64_t greatest = 0;
  for (int i = 0; i < 20; ++i) greatest = std::max(greatest, map.visit(5, add, 2).result());
  EXPECT_EQ(all_reduce(greatest, maximum()), 40 * procs());  // nobody's was lost
  for (int i = 0; i < 20; ++i) map.async_visit(6, add, 3);
  map.quiesce();
  expect_equal(map, {{5, 40 * procs()}, {6, 60 * procs()}});
}

void subtract(std::int64_t& value, const std::int64_t& x) { value -= x; }
TEST(DistributedMap, visits_by_functions) {
  Map map;
  map.visit(my_proc(), &subtract, 4).wait();
  EXPECT_EQ(map.find(my_proc()).result(), -4);
  barrier();
}

TEST(DistributedMap, erases) {
  Map map;
  const std::uint64_t me = my_proc();
  map.insert(me, 1).wait();
  map.insert(me + procs(), 2).wait();
  EXPECT_TRUE(map.erase(me).result());
  EXPECT_FALSE(map.erase(me).result());
  EXPECT_EQ(map.find(me).result(), std::nullopt);
  EXPECT_EQ(map.find(me + procs()).result(), 2);
  barrier();  // all have erased
  EXPECT_EQ(map.size(), procs());
}

TEST(DistributedMap, has_everything_inserted_asynchronously_after_quiesce) {
  constexpr int kEach = 3000;
  Map map;
  for (int phase = 1; phase <= 2; ++phase) {
    std::map<std::uint64_t, std::int64_t> expected;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      std::mt19937_64 random(test::seed() + proc);  // the same keys in both phases
      for (int i = 0; i < kEach; ++i) {
        const std::uint64_t key = random();
        expected[key] = static_cast<std::int64_t>(key >> 3) * phase;
        if (proc == my_proc()) map.async_insert(key, expected[key]);
      }
    }
    map.quiesce();
    expect_equal(map, expected);
  }
}

TEST(DistributedMap, deals_consecutive_keys_to_all_processes) {
  const Map map;
  std::vector<int> counts(procs());
  for (std::uint64_t key = 0; key < 1000 * procs(); ++key) ++counts[map.owner(key)];
  for (const int count : counts) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1200);
  }
}

}  // namespace
