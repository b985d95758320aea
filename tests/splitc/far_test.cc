#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "am/observe/activity.h"
#include "am/route/router.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

// What can only go wrong between nodes. On one node most of it runs all the same.

namespace {

using namespace splitc;
using test::left;
using test::right;

// Some process of another node; this one if there is none.
std::uint32_t far_proc() {
  for (std::uint32_t i = 1; i < procs(); ++i) {
    const std::uint32_t proc = (my_proc() + i) % procs();
    if (test::is_far(proc)) return proc;
  }
  return my_proc();
}

struct Page {
  std::array<std::uint32_t, 1000> words;
};
Page page_of(std::uint32_t value) {
  Page page;
  std::iota(page.words.begin(), page.words.end(), value);
  return page;
}
bool is_page(const Page& page, std::uint32_t value) {
  const Page expected = page_of(value);
  return page.words == expected.words;
}

// So that nobody takes a long one for one that hangs: pieces of it (am/observe/activity.h), or,
// where it consists of messages, handlers.
TEST(Far, long_accesses_are_seen_to_advance) {
  constexpr std::size_t kWords = (std::size_t{17} << 20) / sizeof(std::uint64_t);
  const auto words = all_spread_malloc<std::uint64_t>(kWords * procs());
  const std::uint32_t proc = far_proc();
  std::vector<std::uint64_t> copy(kWords);
  std::iota(words.mine(), words.mine() + kWords, my_proc());
  barrier();
  if (my_proc() == 0 && test::is_far(proc)) {
    const am::Activity& activity = world().router().activity();
    const auto steps = [&] { return activity.read().pieces + activity.read().handled; };
    const std::uint64_t before = steps();
    bulk_get(std::span(copy), words.on(proc));
    sync();
    const std::uint64_t between = steps();
    EXPECT_GE(between, before + 2);
    std::iota(copy.begin(), copy.end(), proc);  // what is there
    bulk_put(words.on(proc), std::span<const std::uint64_t>(copy));
    sync();
    EXPECT_GE(steps(), between + 2);
  }
  barrier();
  EXPECT_EQ(words.mine()[kWords - 1], my_proc() + kWords - 1);
  barrier();
  all_spread_free(words);
}

TEST(Far, puts_of_large_temporaries_outlive_them) {
  constexpr std::uint32_t kPages = 100;
  const auto pages = all_spread_malloc<Page>(kPages * procs());
  for (std::uint32_t i = 0; i < kPages; ++i) {
    put(pages.on(right())[i], page_of(1000 * my_proc() + i));
  }
  sync();
  barrier();
  for (std::uint32_t i = 0; i < kPages; ++i) {
    ASSERT_TRUE(is_page(pages.mine()[i], 1000 * left() + i)) << i;
  }
  barrier();
  all_spread_free(pages);
}

// More than can be under way at once, to all processes, of many sizes.
TEST(Far, gets_may_be_as_many_as_one_likes) {
  constexpr std::size_t kWords = 4096;
  const std::size_t gets = test::times<std::size_t>(20000, 5000);
  const auto words = all_spread_malloc<std::uint32_t>(kWords * procs());
  std::iota(words.mine(), words.mine() + kWords, 10000 * my_proc());
  barrier();
  struct Get {
    std::uint32_t proc;
    std::uint32_t at;
    std::array<std::uint32_t, 20> seen;
    std::uint32_t count;
  };
  std::vector<Get> list(gets);
  std::mt19937_64 random(test::seed() + my_proc());
  for (Get& g : list) {
    g.proc = static_cast<std::uint32_t>(random() % procs());
    g.count = static_cast<std::uint32_t>(random() % (g.seen.size() + 1));
    g.at = static_cast<std::uint32_t>(random() % (kWords - g.count));
    bulk_get(g.seen.data(), words.on(g.proc) + g.at, g.count * sizeof(std::uint32_t));
  }
  sync();
  for (const Get& g : list) {
    for (std::uint32_t i = 0; i < g.count; ++i) ASSERT_EQ(g.seen[i], 10000 * g.proc + g.at + i);
  }
  barrier();
  all_spread_free(words);
}

TEST(Far, each_get_and_put_can_be_waited_for_alone) {
  const auto words = all_spread_malloc<std::uint64_t>(4 * procs());
  std::fill_n(words.mine(), 4, my_proc() + 7);
  barrier();
  const std::uint32_t other = far_proc();
  std::array<std::uint64_t, 3> seen{};
  std::array<handle, 3> handles;
  for (std::size_t i = 0; i < 3; ++i) {
    handles[i] = get(seen[i], words.on(other)[static_cast<std::ptrdiff_t>(i)]);
  }
  sync(handles[1]);
  EXPECT_EQ(seen[1], other + 7);
  wait_until([&] { return try_sync(handles[2]); });
  EXPECT_EQ(seen[2], other + 7);
  wait_until([] { return try_sync(); });
  EXPECT_EQ(seen[0], other + 7);
  barrier();
  const handle put_there = put(words.on(right())[3], my_proc());
  sync(put_there);
  EXPECT_TRUE(try_sync(put_there));
  EXPECT_TRUE(is_sync());
  barrier();
  EXPECT_EQ(words.mine()[3], left());
  all_spread_free(words);
}

TEST(Far, a_read_of_what_was_just_written_sees_it) {
  const auto pages = all_spread_malloc<Page>(procs());
  const global_ptr<Page> p = pages.on(right());
  for (std::uint32_t i = 0; i < 50; ++i) {
    *p = page_of(i);
    ASSERT_TRUE(is_page(*p, i));
    bulk_write(p, page_of(i + 1).words.data(), sizeof(Page));
    ASSERT_TRUE(is_page(read(p), i + 1));
  }
  barrier();
  all_spread_free(pages);
}

TEST(Far, memory_has_no_address_here) {
  const auto a = all_spread_malloc<int>(procs());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (test::is_far(proc)) {
      test::expect_error([&] { tolocal(a.on(proc)); },
                         {"tolocal: process " + std::to_string(proc) + " is on another node",
                          "through the global pointer"});
    } else {
      *tolocal(a.on(proc)) = 1;
    }
  }
  barrier();
  all_spread_free(a);
}

TEST(Far, ranges_outside_the_segment_are_refused_in_every_build) {
  if (!test::has_far_peers()) GTEST_SKIP() << "all processes are on one node";
  const std::uint64_t size = detail::place.segment_bytes;
  const global_ptr<std::uint64_t> end(far_proc(), size);
  std::uint64_t word = 0;
  test::expect_error([&] { word = *end; }, {"read: 8 bytes at offset", "outside its segment"});
  test::expect_error([&] { put(end, 1); }, {"put: ", "outside its segment"});
  test::expect_error([&] { store(end, 1); }, {"store: ", "outside its segment"});
  test::expect_error([&] { fetch_and_add(end, 1); }, {"fetch_and_add: ", "outside its segment"});
  test::expect_error([&] { bulk_get(&word, end - 1, 16); }, {"bulk_get: 16 bytes", "outside"});
  EXPECT_TRUE(is_sync()) << "nothing has been started";
}

// --- Atomics

// Everybody changes every word of every process, near and far, by every kind of addition.
TEST(FarAtomic, sums_of_near_and_far_additions_are_exact) {
  constexpr std::size_t kWords = 4;
  const std::uint64_t rounds = test::times(2000, 100);
  spread_array<std::uint32_t> small(procs(), kWords);
  spread_array<std::int64_t> large(procs(), kWords);
  std::mt19937_64 random(test::seed() + my_proc());
  std::uint64_t added = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto x = static_cast<std::uint32_t>(random() % 1000);
    const std::size_t at = random() % small.size();
    added += x;
    if (round % 2 == 0) {
      fetch_and_add(small[at], x);
      fetch_and_add(large[at], -static_cast<std::int64_t>(x));
    } else {
      std::uint32_t before = small[at];
      while (cmp_and_swap(small[at], before, before + x) != before) before = small[at];
      std::int64_t seen = large[at];
      while (cmp_and_swap(large[at], seen, seen - x) != seen) seen = large[at];
    }
  }
  const std::uint64_t all_added = all_reduce(added, std::plus());
  std::uint64_t sum = 0;
  std::int64_t difference = 0;
  for (const std::uint32_t word : small.mine()) sum += word;
  for (const std::int64_t word : large.mine()) difference += word;
  EXPECT_EQ(all_reduce(sum, std::plus()), all_added);
  EXPECT_EQ(all_reduce(difference, std::plus()), -static_cast<std::int64_t>(all_added));
}

TEST(FarAtomic, exchanges_lose_no_value) {
  const std::uint64_t rounds = test::times(2000, 100);
  spread_array<std::uint64_t> a(1);
  std::uint64_t given = 0;
  std::uint64_t taken = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::uint64_t value = my_proc() * rounds + round;
    given += value;
    taken += exchange(a[0], value);
  }
  barrier();
  const std::uint64_t last = a[0];
  EXPECT_EQ(all_reduce(given, std::plus()), all_reduce(taken, std::plus()) + last);
}

// --- In handlers

struct Attempt {
  const char* name;
  void (*run)(global_ptr<std::uint64_t>);
};
std::uint64_t here = 0;
constexpr Attempt kAttempts[] = {
    {"read", [](global_ptr<std::uint64_t> p) { here = *p; }},
    {"write", [](global_ptr<std::uint64_t> p) { *p = 1; }},
    {"get", [](global_ptr<std::uint64_t> p) { get(here, p); }},
    {"put", [](global_ptr<std::uint64_t> p) { put(p, 1); }},
    {"store", [](global_ptr<std::uint64_t> p) { store(p, 1); }},
    {"bulk_read", [](global_ptr<std::uint64_t> p) { bulk_read(&here, p, 8); }},
    {"bulk_write", [](global_ptr<std::uint64_t> p) { bulk_write(p, &here, 8); }},
    {"bulk_get", [](global_ptr<std::uint64_t> p) { bulk_get(&here, p, 8); }},
    {"bulk_put", [](global_ptr<std::uint64_t> p) { bulk_put(p, &here, 8); }},
    {"bulk_store", [](global_ptr<std::uint64_t> p) { bulk_store(p, &here, 8); }},
    {"fetch_and_add", [](global_ptr<std::uint64_t> p) { fetch_and_add(p, 1); }},
    {"exchange", [](global_ptr<std::uint64_t> p) { exchange(p, 1); }},
    {"cmp_and_swap", [](global_ptr<std::uint64_t> p) { cmp_and_swap(p, 0, 1); }},
    {"test_and_set", [](global_ptr<std::uint64_t> p) { test_and_set(p); }},
};

// How many of the attempts are refused for the right reason.
std::uint32_t count_refused(global_ptr<std::uint64_t> p) {
  std::uint32_t count = 0;
  for (const Attempt& attempt : kAttempts) {
    const std::string said = test::error_of([&] { attempt.run(p); });
    const std::string start = std::string(": ") + attempt.name + ": process ";
    const bool right = said.find(start) != std::string::npos &&
                       said.find("is on another node, and a handler or") != std::string::npos;
    count += right ? 1 : 0;
  }
  return count;
}
std::uint32_t attempt_all(std::uint64_t&, global_ptr<std::uint64_t> p) { return count_refused(p); }

TEST(FarHandler, may_reach_its_node_and_no_other) {
  const auto words = all_spread_malloc<std::uint64_t>(procs());
  const std::uint32_t other = far_proc();
  const bool far = test::is_far(other);
  // There, to here; and here, to here.
  EXPECT_EQ(atomic<&attempt_all>(words.on(other), words.on(my_proc())),
            far ? std::size(kAttempts) : 0u);
  EXPECT_EQ(atomic<&attempt_all>(words.on(my_proc()), words.on(my_proc())), 0u);
  barrier();
  reset_store_sync();
  barrier();
  all_spread_free(words);
}

}  // namespace
