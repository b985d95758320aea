#include "examples/containers/counting_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using containers::counting_map;

// Small numbers are frequent, large ones rare.
std::uint32_t skewed(std::mt19937_64& random) {
  return static_cast<std::uint32_t>(random() % 20'000 >> random() % 15);
}

// Adds what make(number) makes of random numbers, and compares with what one process counts.
template <class Key, class Make>
void expect_counts(Make make) {
  constexpr int kEach = 4000;
  std::map<Key, std::int64_t> expected;
  counting_map<Key> counts;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    std::mt19937_64 random(test::seed() * 100 + proc);
    for (int i = 0; i < kEach; ++i) {
      const Key key = make(skewed(random));
      const std::int64_t n = i % 10 == 0 ? 3 : 1;
      expected[key] += n;
      if (proc == my_proc()) counts.async_add(key, n);
    }
  }
  counts.quiesce();

  EXPECT_EQ(counts.size(), expected.size());
  std::uint64_t mine = 0;
  counts.for_all([&](const Key& key, std::int64_t count) {
    ++mine;
    EXPECT_EQ(expected[key], count);
    EXPECT_EQ(counts.owner(key), my_proc());
  });
  EXPECT_EQ(all_reduce(mine, std::plus()), expected.size());
  EXPECT_EQ(counts.count(make(0)).result(), expected[make(0)]);
  EXPECT_EQ(counts.count(make(1'000'000)).result(), 0);

  std::vector<std::pair<std::int64_t, Key>> best;
  for (const auto& [key, count] : expected) best.emplace_back(-count, key);
  std::sort(best.begin(), best.end());
  for (const std::size_t k : {std::size_t{0}, std::size_t{10}, best.size() + 5}) {
    const auto top = counts.top_k(k);
    ASSERT_EQ(top.size(), my_proc() == 0 ? std::min(k, best.size()) : 0);
    for (std::size_t i = 0; i < top.size(); ++i) {
      EXPECT_EQ(top[i].key, best[i].second);
      EXPECT_EQ(top[i].count, -best[i].first);
    }
  }
}

TEST(CountingMap, counts_numbers) {
  expect_counts<std::uint32_t>([](std::uint32_t x) { return x; });
}
TEST(CountingMap, counts_texts_of_any_length) {
  expect_counts<std::string>([](std::uint32_t x) {
    return x == 7 ? std::string() : std::string(x % 13, 'x') + std::to_string(x);
  });
}

TEST(CountingMap, goes_on_counting_after_quiesce) {
  counting_map<std::string> counts;
  for (int phase = 1; phase <= 3; ++phase) {
    counts.async_add("all");
    counts.async_add(std::to_string(my_proc()), 2);
    counts.quiesce();
    EXPECT_EQ(counts.count("all").result(), phase * static_cast<std::int64_t>(procs()));
    EXPECT_EQ(counts.count(std::to_string(procs() - 1)).result(), 2 * phase);
    barrier();
  }
}

TEST(CountingMap, of_nothing_is_empty) {
  counting_map<int> counts;
  counts.quiesce();
  EXPECT_EQ(counts.size(), 0u);
  EXPECT_TRUE(counts.top_k(3).empty());
}

}  // namespace
