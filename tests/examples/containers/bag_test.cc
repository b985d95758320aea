#include "examples/containers/bag.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using containers::distributed_bag;

struct Item {
  std::uint64_t number;
  std::uint32_t made_by;
};

// Number of items, and the sum of their numbers.
void expect_all(distributed_bag<Item>& bag, std::uint64_t count, std::uint64_t sum) {
  std::uint64_t mine = 0;
  bag.for_all([&](Item& item) { mine += item.number; });
  EXPECT_EQ(bag.size(), count);
  EXPECT_EQ(all_reduce(mine, std::plus()), sum);
}
void expect_balanced(distributed_bag<Item>& bag, std::uint64_t count) {
  EXPECT_EQ(bag.mine().size(), count / procs() + (my_proc() < count % procs() ? 1 : 0));
}

TEST(DistributedBag, spreads_what_is_added) {
  distributed_bag<Item> bag;
  const std::uint64_t each = 10 * procs();
  for (std::uint64_t i = 0; i < each; ++i) bag.add({my_proc() * each + i, my_proc()});
  bag.quiesce();
  const std::uint64_t all = each * procs();
  expect_all(bag, all, all * (all - 1) / 2);
  expect_balanced(bag, all);
}

TEST(DistributedBag, changes_items_in_place) {
  distributed_bag<Item> bag;
  for (std::uint64_t i = 0; i < 100; ++i) bag.add({i, my_proc()});
  bag.quiesce();
  bag.for_all([](Item& item) { item.number = 2; });
  expect_all(bag, 100 * procs(), 200 * procs());
}

// The same bag again and again, from one more unequal distribution after another.
TEST(DistributedBag, balanced_has_the_same_items_as_many_everywhere) {
  distributed_bag<Item> bag;
  std::uint64_t count = 0, sum = 0;
  const auto fill = [&](auto&& how_many) {
    std::uint64_t added = 0;
    for (std::uint64_t n = how_many(); added < n; ++added) bag.add_here({added + 1, my_proc()});
    count += all_reduce(added, std::plus());
    sum += all_reduce(added * (added + 1) / 2, std::plus());
    bag.balance();
    expect_balanced(bag, count);
    expect_all(bag, count, sum);
  };
  std::mt19937_64 random(test::seed() + my_proc());
  fill([] { return 0u; });
  fill([] { return my_proc() == procs() - 1 ? 1u : 0u; });
  fill([] { return my_proc() == 0 ? 3000u : 0u; });
  fill([] { return my_proc() == procs() - 1 ? 5000u : 1u; });
  for (int i = 0; i < 10; ++i) {
    fill([&] { return random() % 3 == 0 ? random() % 1000 : random() % 10; });
  }
}

// Each number of each process once: sums could hide a loss and a copy.
TEST(DistributedBag, balancing_neither_loses_nor_copies) {
  constexpr std::uint64_t kEach = 500;
  distributed_bag<Item> bag;
  const std::uint64_t mine = my_proc() % 2 == 0 ? kEach : 0;
  for (std::uint64_t i = 0; i < mine; ++i) bag.add_here({i, my_proc()});
  bag.balance();
  spread_array<std::uint32_t> seen(kEach * procs());
  bag.for_all([&](Item& item) { fetch_and_add(seen[item.made_by * kEach + item.number], 1u); });
  barrier();
  for (const std::size_t i : seen.my_indices()) {
    EXPECT_EQ(std::uint32_t{seen[i]}, i / kEach % 2 == 0 ? 1u : 0u);
  }
  barrier();
}

}  // namespace
