#include "splitc/access/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

TEST(Store, sync_waits_for_the_bytes_of_all_senders) {
  constexpr int kRounds = 50;
  const auto inbox = all_spread_malloc<std::uint64_t>(procs() * procs());
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for (std::uint32_t i = 0; i < procs(); ++i) {
      const std::uint32_t to = (my_proc() + i) % procs();
      store(inbox.on(to) + my_proc(), round * 1000 + my_proc());
    }
    store_sync(8 * procs());
    for (std::uint32_t from = 0; from < procs(); ++from) {
      ASSERT_EQ(inbox.mine()[from], round * 1000 + from);
    }
    barrier();
  }
  EXPECT_EQ(store_counter::default_counter().available(), 0u);
  all_spread_free(inbox);
}

TEST(Store, sync_leaves_surplus_bytes_for_the_next_one) {
  const auto inbox = all_spread_malloc<std::uint32_t>(4 * procs());
  for (std::uint32_t k = 0; k < 4; ++k) store(inbox.on(test::right()) + k, k + 1);
  store_sync(4);
  wait_until([] { return store_counter::default_counter().available() == 12; });
  store_sync(8);
  EXPECT_EQ(store_counter::default_counter().available(), 4u);
  store_sync(0);
  store_sync(4);
  EXPECT_EQ(store_counter::default_counter().available(), 0u);
  barrier();
  all_spread_free(inbox);
}

TEST(Store, reset_forgets_what_has_arrived) {
  const auto inbox = all_spread_malloc<std::uint32_t>(procs());
  store(inbox.on(test::right()), 7u);
  EXPECT_EQ(test::arrived(4), 4u);
  reset_store_sync();
  EXPECT_EQ(store_counter::default_counter().available(), 0u);
  barrier();
  store(inbox.on(test::right())[0], 8u);
  store_sync(4);
  EXPECT_EQ(*inbox.mine(), 8u);
  barrier();
  all_spread_free(inbox);
}

TEST(StoreCounter, keeps_phases_apart) {
  store_counter left;
  store_counter right;
  const auto inbox = all_spread_malloc<std::uint32_t>(2 * procs());
  for (std::uint32_t round = 1; round <= 100; ++round) {
    store(inbox.on(test::right()), 10 * round, left);
    left.wait(4);
    ASSERT_EQ(inbox.mine()[0], 10 * round);
    bulk_store(inbox.on(test::left()) + 1, std::span<const std::uint32_t>(&round, 1), right);
    store_sync(4, right);
    ASSERT_EQ(inbox.mine()[1], round);
    EXPECT_EQ(left.available(), 0u);
    barrier();
  }
  EXPECT_FALSE(left.try_wait(1));
  store(inbox.on(my_proc()), 1u, left);
  EXPECT_TRUE(left.try_wait(4));
  EXPECT_EQ(store_counter::default_counter().available(), 0u);
  barrier();
  all_spread_free(inbox);
}

TEST(StoreCounter, is_clean_in_memory_that_was_used_before) {
  for (int round = 0; round < 3; ++round) {
    const auto garbage = all_spread_malloc<std::uint64_t>(64 * procs());
    std::fill_n(garbage.mine(), 64, ~std::uint64_t{0});
    all_spread_free(garbage);
    store_counter counter;
    EXPECT_EQ(counter.available(), 0u);
    counter.wait_all();
    EXPECT_EQ(counter.available(), 0u);
  }
}

// Random stores of everybody to everybody; each phase has its value, all land by its end.
TEST(AllStoreSync, every_store_of_a_phase_has_landed_and_none_of_the_next_counts) {
  const std::uint32_t phases = test::times(100, 25);
  std::mt19937_64 random(test::seed());  // the same in all processes
  const auto inbox = all_spread_malloc<std::uint64_t>(procs() * procs());
  std::vector<std::uint64_t> expected(procs(), 0);
  for (std::uint64_t phase = 1; phase <= phases; ++phase) {
    for (std::uint32_t from = 0; from < procs(); ++from) {
      for (std::uint32_t to = 0; to < procs(); ++to) {
        if (random() % 3 == 0) continue;
        if (from == my_proc()) store(inbox.on(to) + from, phase);
        if (to == my_proc()) expected[from] = phase;
      }
    }
    all_store_sync();
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), inbox.mine()));
    EXPECT_EQ(store_counter::default_counter().available(), 0u);
    barrier();
  }
  all_spread_free(inbox);
}

// Between two all_store_sync there is no other barrier: a process that runs ahead stores for the
// next phase while a slow one is still in this.
TEST(AllStoreSync, lets_a_fast_process_run_ahead) {
  const std::uint64_t phases = test::times(200, 40);
  const auto slots = all_spread_malloc<std::uint64_t>(2 * procs() * procs());
  std::mt19937_64 random(test::seed() + my_proc());
  for (std::uint64_t phase = 1; phase <= phases; ++phase) {
    const std::uint64_t half = phase % 2 * procs();
    for (std::uint32_t to = 0; to < procs(); ++to) {
      store(slots.on(to) + static_cast<std::ptrdiff_t>(half + my_proc()), phase);
    }
    all_store_sync();
    if (random() % procs() == 0) {
      for (int i = 0; i < 200; ++i) poll();  // slow this time
    }
    std::uint64_t ahead = 0;  // processes whose store of the next phase is here already
    for (std::uint32_t from = 0; from < procs(); ++from) {
      ASSERT_EQ(slots.mine()[half + from], phase);
      ahead += slots.mine()[procs() - half + from] == phase + 1 ? 1 : 0;
    }
    // They are not consumed; their count comes right behind them.
    ASSERT_GE(test::arrived(8 * ahead), 8 * ahead) << "phase " << phase;
  }
  barrier();
  all_spread_free(slots);
}

// A process that has left all_store_sync stores at once at others that may still be in it.
TEST(AllStoreSync, consumes_nothing_that_was_stored_after_it) {
  const auto inbox = all_spread_malloc<std::uint64_t>(2 * procs() * procs());
  const std::uint64_t phases = test::times(500, 50);
  for (std::uint64_t phase = 1; phase <= phases; ++phase) {
    for (std::uint32_t to = 0; to < procs(); ++to) store(inbox.on(to) + my_proc(), phase);
    all_store_sync();
    for (std::uint32_t to = 0; to < procs(); ++to) {
      store(inbox.on(to) + procs() + my_proc(), phase);
    }
    barrier();
    ASSERT_EQ(test::arrived(8 * procs()), 8 * procs()) << "phase " << phase;
    store_sync(8 * procs());
    for (std::uint32_t i = 0; i < 2 * procs(); ++i) ASSERT_EQ(inbox.mine()[i], phase);
    barrier();
  }
  all_spread_free(inbox);
}

TEST(AllStoreSync, and_store_sync_count_the_same_stores_once) {
  const auto inbox = all_spread_malloc<std::uint64_t>(procs());
  for (std::uint64_t round = 1; round <= 30; ++round) {
    store(inbox.on(test::right()), round);
    if (round % 2 == 0) {
      store_sync(8);
      barrier();
    } else {
      all_store_sync();
    }
    ASSERT_EQ(*inbox.mine(), round);
    ASSERT_EQ(store_counter::default_counter().available(), 0u);
    barrier();
  }
  all_spread_free(inbox);
}

TEST(AllStoreSync, completes_puts_too) {
  const auto a = all_spread_malloc<std::uint64_t>(procs());
  for (std::uint64_t round = 1; round <= 30; ++round) {
    put(a.on((my_proc() + 1) % procs()), round);
    all_store_sync();
    ASSERT_EQ(*a.mine(), round);
    barrier();
  }
  all_spread_free(a);
}

TEST(Store, of_structs_and_large_ranges_counts_their_bytes) {
  struct Record {
    std::uint64_t key;
    char text[24];
  };
  constexpr std::size_t kMany = 100000;
  const auto records = all_spread_malloc<Record>(procs());
  const auto many = all_spread_malloc<std::uint32_t>(kMany * procs());
  std::vector<std::uint32_t> data(kMany, my_proc() + 1);
  store(records.on(test::right()), Record{my_proc(), "hello"});
  bulk_store(many.on(test::right()), data.data(), data.size() * sizeof data[0]);
  store_sync(sizeof(Record) + kMany * 4);
  EXPECT_EQ(records.mine()->key, test::left());
  EXPECT_STREQ(records.mine()->text, "hello");
  EXPECT_TRUE(std::all_of(many.mine(), many.mine() + kMany,
                          [&](std::uint32_t x) { return x == test::left() + 1; }));
  barrier();
  all_spread_free(many);
  all_spread_free(records);
}

}  // namespace
