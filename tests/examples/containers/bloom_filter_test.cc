#include "examples/containers/bloom_filter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using Filter = containers::bloom_filter<std::uint64_t>;

constexpr std::uint64_t kEach = 2000;
std::uint64_t key_of(std::uint32_t proc, std::uint64_t i) {
  return (test::seed() * 1000 + proc) * kEach + i;
}
// How many of these, which are no members, it takes for some.
std::uint64_t count_false(const Filter& filter) {
  std::vector<std::uint64_t> others;
  for (std::uint64_t i = 0; i < kEach; ++i) others.push_back(~key_of(my_proc(), i));
  std::uint64_t found = 0;
  for (const char one : filter.contains(others)) found += one;
  return all_reduce(found, std::plus());
}
void expect_all_members(const Filter& filter) {
  std::vector<std::uint64_t> keys;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (std::uint64_t i = 0; i < kEach; i += 3) keys.push_back(key_of(proc, i));
  }
  for (const char one : filter.contains(keys)) ASSERT_EQ(one, 1);
  for (std::size_t i = 0; i < keys.size(); i += 97) ASSERT_TRUE(filter.contains(keys[i]));
}

TEST(BloomFilter, has_what_all_have_inserted_and_little_else) {
  const std::uint64_t all = kEach * procs();
  Filter filter(all);
  EXPECT_EQ(filter.bits_set(), 0u);
  for (std::uint64_t i = 0; i < kEach; ++i) filter.async_insert(key_of(my_proc(), i));
  filter.quiesce();
  expect_all_members(filter);
  // Expected are all / 194, with a deviation of its root: of 2000 10.3 and 3.2.
  EXPECT_LT(count_false(filter), all / 60);
  EXPECT_GT(filter.bits_set(), 3 * all);
  EXPECT_LE(filter.bits_set(), 4 * all);
  barrier();
}

TEST(BloomFilter, loses_nothing_where_both_ways_to_insert_meet) {
  Filter filter(200);  // a few words, which all change
  for (std::uint64_t i = 0; i < kEach; ++i) {
    if (i % 2 == my_proc() % 2) {
      filter.insert(key_of(my_proc(), i));
    } else {
      filter.async_insert(key_of(my_proc(), i));
    }
  }
  sync();
  filter.quiesce();
  expect_all_members(filter);
  barrier();
}

TEST(BloomFilter, that_is_empty_has_nothing) {
  const Filter filter(100), smallest(0);
  EXPECT_EQ(count_false(filter), 0u);
  EXPECT_FALSE(smallest.contains(1));
  barrier();
}

}  // namespace
