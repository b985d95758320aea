#include "splitc/rpc/atomic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

template <class T>
class AtomicWord : public testing::Test {};
using Words = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(AtomicWord, Words);

TYPED_TEST(AtomicWord, additions_of_all_processes_give_each_sum_once) {
  constexpr std::uint32_t kAdditions = 500;
  const auto counter = all_spread_malloc<TypeParam>(procs());
  const global_ptr<TypeParam> target = counter.on(procs() - 1);
  std::vector<TypeParam> seen(kAdditions);
  for (auto& before : seen) before = fetch_and_add(target, TypeParam(1));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  std::vector<TypeParam> all(kAdditions * procs());
  all_gather(std::span(seen), std::span(all));
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<TypeParam>(i));
  EXPECT_EQ(static_cast<TypeParam>(*target), static_cast<TypeParam>(all.size()));
  all_spread_free(counter);
}

TYPED_TEST(AtomicWord, each_call_does_what_it_says) {
  spread_array<TypeParam> a(procs());
  const auto mine = a[my_proc()];
  EXPECT_EQ(exchange(mine, TypeParam(7)), TypeParam(0));
  EXPECT_EQ(cmp_and_swap(mine, TypeParam(8), TypeParam(1)), TypeParam(7));
  EXPECT_EQ(static_cast<TypeParam>(mine), TypeParam(7));
  EXPECT_EQ(cmp_and_swap(mine, TypeParam(7), TypeParam(1)), TypeParam(7));
  EXPECT_EQ(fetch_and_add(mine, static_cast<TypeParam>(-2)), TypeParam(1));
  EXPECT_EQ(static_cast<TypeParam>(mine), static_cast<TypeParam>(-1));
  EXPECT_EQ(exchange(mine, TypeParam(0)), static_cast<TypeParam>(-1));
  EXPECT_EQ(test_and_set(mine), TypeParam(0));
  EXPECT_EQ(test_and_set(mine), TypeParam(1));
}

TEST(Atomic, test_and_set_makes_a_lock) {
  constexpr int kRounds = 100;
  const auto words = all_spread_malloc<std::int32_t>(2 * procs());
  const global_ptr<std::int32_t> lock = words.on(0);
  const global_ptr<std::int32_t> shared = words.on(procs() - 1) + 1;
  for (int round = 0; round < kRounds; ++round) {
    wait_until([&] { return test_and_set(lock) == 0; });
    *shared = *shared + 1;
    *lock = 0;
  }
  barrier();
  EXPECT_EQ(static_cast<std::int32_t>(*shared), kRounds * static_cast<std::int32_t>(procs()));
  all_spread_free(words);
}

TEST(Atomic, cmp_and_swap_loses_no_update) {
  constexpr int kRounds = 200;
  const auto words = all_spread_malloc<std::uint64_t>(procs());
  const global_ptr<std::uint64_t> target = words.on(0);
  for (int round = 0; round < kRounds; ++round) {
    std::uint64_t seen = *target;
    for (;;) {
      const std::uint64_t before = cmp_and_swap(target, seen, seen + 3);
      if (before == seen) break;
      seen = before;
    }
  }
  barrier();
  EXPECT_EQ(static_cast<std::uint64_t>(*target), std::uint64_t{3} * kRounds * procs());
  all_spread_free(words);
}

TEST(Atomic, refuses_misaligned_words_in_every_build) {
  const auto words = all_spread_malloc<std::uint64_t>(procs());
  const global_ptr<std::uint64_t> crooked(my_proc(), words.offset() + 4);
  test::expect_error([&] { fetch_and_add(crooked, 1); }, {"fetch_and_add", "misaligned"});
  test::expect_error([&] { exchange(crooked, 1); }, {"exchange", "misaligned"});
  test::expect_error([&] { cmp_and_swap(crooked, 1, 2); }, {"cmp_and_swap", "misaligned"});
  test::expect_error([&] { test_and_set(crooked); }, {"test_and_set", "misaligned"});
  all_spread_free(words);
}

// --- Functions

struct Queue {
  std::uint32_t length;
  std::uint32_t running;
  std::uint64_t items[4096];
};

std::uint32_t push(Queue& queue, std::uint64_t item) {
  queue.items[queue.length] = item;
  return ++queue.length;
}
void add_item(Queue& queue, std::uint32_t a, double b, char c) {
  push(queue, a + static_cast<std::uint64_t>(b) + static_cast<std::uint64_t>(c));
}
std::uint64_t sum_of(Queue& queue) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < queue.length; ++i) sum += queue.items[i];
  return sum;
}

struct Large {
  std::uint64_t words[6];
};
struct Larger {
  std::uint64_t words[7];
};
Larger echo(std::uint64_t& object, const Large& large) {
  ++object;
  Larger result{};
  std::copy_n(large.words, 6, result.words);
  result.words[6] = object;
  return result;
}

TEST(AtomicFunction, runs_one_at_a_time_where_the_object_is) {
  constexpr std::uint32_t kItems = 300;
  const auto queues = all_spread_malloc<Queue>(procs());
  std::mt19937_64 random(test::seed() + my_proc());
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const auto to = static_cast<std::uint32_t>(random() % procs());
    const std::uint64_t item = std::uint64_t{my_proc()} << 32 | i;
    if (i % 2 == 0) {
      EXPECT_GT(atomic<&push>(queues.on(to), item), 0u);
    } else {
      atomic_put<&push>(queues.on(to), item);
    }
  }
  sync();
  barrier();
  std::multiset<std::uint64_t> seen;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const auto queue = std::make_unique<Queue>(*queues.on(proc));
    seen.insert(queue->items, queue->items + queue->length);
  }
  std::multiset<std::uint64_t> expected;
  for (std::uint64_t proc = 0; proc < procs(); ++proc) {
    for (std::uint64_t i = 0; i < kItems; ++i) expected.insert(proc << 32 | i);
  }
  EXPECT_EQ(seen, expected);
  all_spread_free(queues);
}

TEST(AtomicFunction, takes_arguments_of_several_types_and_returns_nothing) {
  const auto queues = all_spread_malloc<Queue>(procs());
  atomic<&add_item>(queues.on(test::right()), 100, 20.7, '\3');
  EXPECT_EQ(atomic<&sum_of>(queues.on(test::right())), 123u);
  barrier();
  all_spread_free(queues);
}

TEST(AtomicFunction, carries_the_largest_arguments_and_results) {
  const auto objects = all_spread_malloc<std::uint64_t>(procs());
  std::mt19937_64 random(test::seed() + my_proc());
  constexpr std::uint64_t kRounds = 50;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    Large large;
    for (auto& word : large.words) word = random();
    const Larger back = atomic<&echo>(objects.on(round % procs()), large);
    EXPECT_TRUE(std::equal(large.words, large.words + 6, back.words));
    EXPECT_GT(back.words[6], 0u);
  }
  barrier();
  std::uint64_t sum = 0;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) sum += *objects.on(proc);
  EXPECT_EQ(sum, kRounds * procs());
  barrier();
  all_spread_free(objects);
}

TEST(AtomicFunction, started_ones_are_complete_at_sync) {
  constexpr std::size_t kCalls = 400;  // more than there are credits
  const auto queues = all_spread_malloc<Queue>(procs());
  std::vector<std::uint32_t> lengths(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    atomic_get<&push>(lengths[i], queues.on(my_proc()), i);
  }
  sync();
  std::sort(lengths.begin(), lengths.end());
  for (std::size_t i = 0; i < kCalls; ++i) ASSERT_EQ(lengths[i], i + 1);
  barrier();
  all_spread_free(queues);
}

TEST(AtomicFunction, each_one_can_be_waited_for_alone) {
  const auto queues = all_spread_malloc<Queue>(procs());
  std::uint32_t lengths[3] = {};
  const std::uint32_t to = procs() - 1;
  handle handles[3];
  for (int i = 0; i < 3; ++i) {
    handles[i] = atomic_get<&push>(lengths[i], queues.on(to), std::uint64_t{my_proc()});
  }
  sync(handles[1]);
  EXPECT_GT(lengths[1], 0u);
  wait_until([&] { return try_sync(handles[2]); });
  EXPECT_GT(lengths[2], 0u);
  wait_until([] { return try_sync(); });
  EXPECT_GT(lengths[0], 0u);
  EXPECT_TRUE(try_sync(handles[0]));
  sync(handles[0]);
  barrier();
  EXPECT_EQ(static_cast<std::uint32_t>(*queues.on(to).member(&Queue::length)), 3 * procs());
  barrier();
  all_spread_free(queues);
}

TEST(AtomicFunction, is_served_by_processes_that_wait_in_a_barrier) {
  const auto queues = all_spread_malloc<Queue>(procs());
  on_one([&] {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      EXPECT_EQ(atomic<&push>(queues.on(proc), std::uint64_t{5}), 1u);
    }
  });
  barrier();
  EXPECT_EQ(queues.mine()->length, 1u);
  all_spread_free(queues);
}

// Runs in the handler, where no call may be made.
global_ptr<Queue> nested_target;
std::uint32_t nested(Queue& queue, int) {
  try {
    atomic<&sum_of>(nested_target);
  } catch (const Error& error) {
    return std::string(error.what()).find("atomic: called by a handler") != std::string::npos ? 1
                                                                                              : 2;
  }
  return push(queue, 0) + 10;
}

TEST(AtomicFunction, may_not_call_another) {
  const auto queues = all_spread_malloc<Queue>(procs());
  nested_target = queues.on(0);
  barrier();
  EXPECT_EQ(atomic<&nested>(queues.on(procs() - 1), 1), 1u);
  barrier();
  all_spread_free(queues);
}

TEST(AtomicFunction, refuses_a_process_that_is_not_there) {
  test::expect_error([] { atomic<&sum_of>(global_ptr<Queue>(procs(), 1 << 20)); },
                     {"atomic", "there is no process " + std::to_string(procs())});
}

}  // namespace
