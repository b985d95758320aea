#include "examples/containers/disjoint_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using containers::disjoint_sets;
using Id = disjoint_sets::Id;
using Pair = disjoint_sets::Pair;

// The least number of the set of each, by relabelling until nothing changes.
std::vector<Id> serial_names(std::size_t n, const std::vector<Pair>& pairs) {
  std::vector<Id> name(n);
  std::iota(name.begin(), name.end(), Id{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : pairs) {
      const Id least = std::min({name[a], name[b], name[name[a]], name[name[b]]});
      changed = changed || name[a] != least || name[b] != least;
      name[a] = name[b] = least;
    }
  }
  return name;
}

// Every process unites its part of the pairs, which are dealt in turn.
void expect_names(std::size_t n, const std::vector<Pair>& pairs) {
  std::vector<Pair> mine;
  for (std::size_t i = my_proc(); i < pairs.size(); i += procs()) mine.push_back(pairs[i]);
  disjoint_sets sets(n);
  sets.unite(mine);
  barrier();
  const std::vector<Id> expected = serial_names(n, pairs);
  std::vector<Id> all(n);
  std::iota(all.begin(), all.end(), Id{0});
  EXPECT_EQ(sets.find(all), expected);
  std::size_t roots = 0;
  for (std::size_t i = 0; i < n; ++i) roots += expected[i] == i;
  EXPECT_EQ(sets.count(), roots);
}

TEST(DisjointSets, are_single_numbers_at_first) {
  expect_names(0, {});
  expect_names(1, {});
  expect_names(1000, {});
}

TEST(DisjointSets, of_random_pairs_are_those_of_one_process) {
  std::mt19937_64 random(test::seed());
  for (const std::size_t count : {100u, 1000u, 1500u, 6000u}) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < count; ++i) pairs.push_back({random() % 3000, random() % 3000});
    expect_names(3000, pairs);
  }
}

// Long chains, by which trees get deep, and a star, whose centre all want to change.
TEST(DisjointSets, of_chains_and_stars_are_those_of_one_process) {
  constexpr Id kLong = 4000;
  std::vector<Pair> up, down, star;
  for (Id i = 0; i + 2 < kLong; ++i) {
    up.push_back({i, i + 2});
    down.push_back({kLong - 1 - i, kLong - 3 - i});
    star.push_back({kLong - 1, i});
  }
  expect_names(kLong, up);
  expect_names(kLong, down);
  expect_names(kLong, star);
  std::mt19937_64 random(test::seed());
  std::shuffle(up.begin(), up.end(), random);
  expect_names(kLong, up);
}

TEST(DisjointSets, unites_pair_by_pair_at_once) {
  disjoint_sets sets(3 * procs());
  const Id first = 3 * my_proc();
  EXPECT_FALSE(sets.connected(first, first + 2));
  sets.unite(first, first + 1);
  sets.unite(first + 2, first + 1);
  EXPECT_TRUE(sets.connected(first, first + 2));
  EXPECT_EQ(sets.find(first + 2), first);
  EXPECT_EQ(sets.count(), procs());
}

TEST(DisjointSets, numbers_that_are_not_there_are_errors) {
  disjoint_sets sets(10);
  test::expect_error([&] { sets.find(10); }, {"spread_array", "10"});
  test::expect_error([&] { sets.unite(3, 11); }, {"spread_array", "11"});
  test::expect_error([&] { sets.unite(std::vector<Pair>{{1, 2}, {3, 12}}); }, {"12"});
  barrier();
  EXPECT_EQ(sets.count(), 10u);
}

}  // namespace
