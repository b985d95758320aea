#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

// Stores that travel: all_store_sync against a serial oracle, and the ends of counters.

namespace {

using namespace splitc;

constexpr std::size_t kPart = 4096;  // bytes that each process may write at each other

// One store of the phase: who, where to, and what.
struct Store {
  std::uint32_t from;
  std::uint32_t to;
  std::size_t at;  // in the sender's part
  std::vector<std::uint8_t> bytes;
};

// The stores of a phase, the same in all processes; of one sender none overlaps another.
std::vector<Store> make_phase(std::mt19937_64& random) {
  std::vector<Store> stores;
  for (std::uint32_t from = 0; from < procs(); ++from) {
    std::vector<std::size_t> used(procs(), 0);
    for (std::uint64_t i = random() % 30; i > 0; --i) {
      Store s{from, static_cast<std::uint32_t>(random() % procs()), 0, {}};
      // Many words, some ranges, now and then one of more than a packet.
      const std::uint64_t kind = random() % 16;
      s.bytes.resize(kind == 0 ? random() % 3000 : kind < 6 ? random() % 100 : 8);
      for (auto& byte : s.bytes) byte = static_cast<std::uint8_t>(random());
      s.at = (used[s.to] + 7) / 8 * 8;
      if (s.at + s.bytes.size() > kPart) continue;
      used[s.to] = s.at + s.bytes.size();
      stores.push_back(std::move(s));
    }
  }
  return stores;
}

void make_store(const Store& s, global_ptr<std::uint8_t> to, store_counter& counter) {
  if (s.bytes.size() == 8) {
    std::uint64_t word;
    std::memcpy(&word, s.bytes.data(), 8);
    store(global_ptr<std::uint64_t>(to), word, counter);
  } else {
    bulk_store(to, s.bytes.data(), s.bytes.size(), counter);
  }
}

// Phases use two inboxes by turns, so that a fast process may be one ahead.
void expect_as_in_serial(store_counter& counter) {
  const int phases = test::times(60, 30);
  std::mt19937_64 random(test::seed());  // the same in all processes
  const std::size_t size = kPart * procs();
  const auto inboxes = all_spread_malloc<std::uint8_t>(2 * size * procs());
  std::vector<std::uint8_t> expected(2 * size, 0);
  for (int phase = 0; phase < phases; ++phase) {
    const std::size_t inbox = phase % 2 == 0 ? 0 : size;
    for (const Store& s : make_phase(random)) {
      const std::size_t at = inbox + s.from * kPart + s.at;
      if (s.to == my_proc()) {
        std::copy(s.bytes.begin(), s.bytes.end(),
                  expected.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (s.from != my_proc()) continue;
      make_store(s, inboxes.on(s.to) + static_cast<std::ptrdiff_t>(at), counter);
    }
    counter.wait_all();
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(inbox);
    ASSERT_TRUE(
        std::equal(first, first + static_cast<std::ptrdiff_t>(size), inboxes.mine() + inbox))
        << "phase " << phase;
  }
  barrier();
  EXPECT_EQ(counter.available(), 0u);
  all_spread_free(inboxes);
}

TEST(FarStore, all_store_sync_gives_what_a_serial_program_gives) {
  expect_as_in_serial(store_counter::default_counter());
}

TEST(FarStore, wait_all_of_an_own_counter_does_too) {
  store_counter counter;
  expect_as_in_serial(counter);
}

// Nobody has waited for them: the counter lives until they have landed, and so its memory is clean
// for whoever gets it next.
TEST(FarStore, the_end_of_a_counter_waits_for_its_stores) {
  const std::uint64_t rounds = test::times(50, 15);
  const auto inbox = all_spread_malloc<std::uint64_t>(procs() * procs());
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    {
      store_counter counter;
      EXPECT_EQ(counter.available(), 0u);
      barrier();
      for (std::uint32_t to = 0; to < procs(); ++to) {
        store(inbox.on(to) + my_proc(), round, counter);
      }
    }
    ASSERT_TRUE(std::all_of(inbox.mine(), inbox.mine() + procs(),
                            [&](std::uint64_t word) { return word == round; }));
    barrier();
  }
  all_spread_free(inbox);
}

// To everybody at once, and the sources written over as soon as they may be.
TEST(FarStore, started_ones_leave_the_source_at_sync_and_are_counted) {
  constexpr std::size_t kMost = 50000;
  spread_array<std::uint32_t> inbox(procs(), procs() * kMost);
  store_counter counter;
  const auto value = [](std::uint32_t from, std::size_t n, std::size_t i) {
    return static_cast<std::uint32_t>(from * 1000003 + n * 7919 + i);
  };
  std::vector<std::uint32_t> mine(kMost * procs());
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1500}, kMost}) {
    std::vector<handle> started;
    for (std::uint32_t to = 0; to < procs(); ++to) {
      const auto part = std::span(mine).subspan(to * kMost, n);
      for (std::size_t i = 0; i < n; ++i) part[i] = value(my_proc(), n, i);
      started.push_back(start_bulk_store(inbox.on(to) + my_proc() * kMost, part, counter));
    }
    if (n % 2 == 0) {
      sync();
    } else {
      when_all(std::move(started)).wait();
    }
    std::ranges::fill(mine, ~0u);
    counter.wait(procs() * n * sizeof(std::uint32_t));
    for (std::uint32_t from = 0; from < procs(); ++from) {
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(inbox.mine()[from * kMost + i], value(from, n, i));
      }
    }
    EXPECT_EQ(counter.available(), 0u);
    barrier();
  }
}

// Many small ones that share packets, and large ones that need transfers of their own.
TEST(FarStore, floods_of_all_sizes_arrive_and_are_counted_once) {
  for (const std::size_t words : {1, 2, 7, 8, 9, 100, 512, 513, 10000, 300000}) {
    const std::size_t count = std::clamp<std::size_t>(4000 / words, 2, 2000);
    const auto inbox = all_spread_malloc<std::uint64_t>(words * count * procs());
    std::vector<std::uint64_t> data(words);
    for (std::size_t i = 0; i < count; ++i) {
      std::fill(data.begin(), data.end(), i + 1);
      bulk_store(inbox.on(test::right()) + static_cast<std::ptrdiff_t>(i * words), std::span(data));
    }
    store_sync(8 * words * count);
    for (std::size_t i = 0; i < words * count; ++i) {
      ASSERT_EQ(inbox.mine()[i], i / words + 1) << words << " words, " << i;
    }
    EXPECT_EQ(store_counter::default_counter().available(), 0u);
    barrier();
    all_spread_free(inbox);
  }
}

}  // namespace
