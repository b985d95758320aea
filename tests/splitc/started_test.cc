#include "splitc/collective/started.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "am/core/bundle.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

std::uint32_t sum_of_ranks() { return procs() * (procs() - 1) / 2; }

// One large call differed, so only some processes have prepared for it.
TEST(Started, after_a_mismatch_large_calls_are_right) {
  if (!am::kChecked || procs() == 1) return;
  std::vector<unsigned> mine(9000, 1), all(9000 * procs());
  EXPECT_NE(test::error_of([&] {
              my_proc() == 0
                  ? all_reduce(std::span(mine), std::span(all).first(9000), std::plus<>())
                  : barrier();
            }),
            "");
  EXPECT_EQ(all_reduce(1u, std::plus()), procs());
  const std::size_t n = std::min<std::size_t>(4000, (std::size_t{1} << 20) / procs());
  all_gather(std::span(mine).first(n), std::span(all).first(n * procs()));
  EXPECT_EQ(all[n * procs() - 1], 1u);
}

// The first of the calls that move much prepares for that: by whichever call it comes to pass here.
TEST(Started, large_calls_are_run_by_the_next_blocking_one_or_by_their_wait) {
  const std::size_t n = std::min<std::size_t>(20000, (std::size_t{1} << 20) / procs());
  std::vector<std::uint32_t> mine(n, my_proc()), all(n * procs()), few(4000, my_proc()),
      some(4000 * procs());
  auto gather = start_all_gather(std::span(mine), std::span(all));
  if (my_proc() == 0) gather.wait();
  all_gather(std::span(few), std::span(some));
  if (my_proc() != 0) gather.wait();
  EXPECT_EQ(all.back(), procs() - 1);
  EXPECT_EQ(some.back(), procs() - 1);
}

TEST(Started, gives_what_the_blocking_call_gives) {
  auto root = start_all_bcast(my_proc() + 7, procs() - 1);
  auto sum = start_all_reduce(my_proc(), std::plus<>());
  auto all = start_all_gather(2 * my_proc());
  auto barrier = start_barrier();
  EXPECT_EQ(root.wait(), procs() + 6);
  EXPECT_EQ(sum.wait(), sum_of_ranks());
  const std::vector<std::uint32_t> gathered = all.wait();
  ASSERT_EQ(gathered.size(), procs());
  for (std::uint32_t p = 0; p < procs(); ++p) EXPECT_EQ(gathered[p], 2 * p);
  barrier.wait();
  EXPECT_TRUE(barrier.ready());
}

TEST(Started, goes_on_in_polls_alone) {
  auto first = start_all_reduce(my_proc(), std::plus<>());
  auto second = start_all_gather(my_proc());
  auto third = start_barrier();
  while (!third.ready()) poll();
  EXPECT_TRUE(first.ready());
  EXPECT_TRUE(second.ready());
  EXPECT_EQ(first.wait(), sum_of_ranks());
  EXPECT_EQ(second.wait().back(), procs() - 1);
}

TEST(Started, goes_on_while_another_wait_polls) {
  const spread_array<std::uint32_t> told(procs());
  told[my_proc()] = 0;
  barrier();
  auto sum = start_all_reduce(my_proc() + 1, std::plus<>());
  if (my_proc() == 0) {
    // The others learn of it only after process 0 has the sum, and it has that only if they poll.
    EXPECT_EQ(sum.wait(), sum_of_ranks() + procs());
    for (std::uint32_t p = 0; p < procs(); ++p) told[p] = 1;
  } else {
    // Process 0 may have the sum before what others of them still need has come.
    wait_until([&] { return told.mine()[0] == 1; });
    wait_until([&] { return sum.ready(); });
    EXPECT_EQ(sum.wait(), sum_of_ranks() + procs());
  }
  barrier();
}

TEST(Started, may_be_waited_for_in_any_order_or_dropped) {
  auto a = start_all_reduce(1u, std::plus<>());
  start_all_gather(my_proc());
  auto c = start_all_reduce(3u, std::plus<>());
  EXPECT_EQ(c.wait(), 3 * procs());
  EXPECT_EQ(all_reduce(2u, std::plus()), 2 * procs());
  start_barrier();
  EXPECT_EQ(a.wait(), procs());
  barrier();
}

// Whatever the sizes, and whether the next call waits or is started only.
TEST(Started, calls_of_all_sizes_come_in_order) {
  std::mt19937_64 random(test::seed());  // the same in all processes
  struct Open {
    std::vector<std::uint32_t> mine, result;
    started<> call;
    std::function<void(const Open&)> check;
  };
  std::deque<Open> open;
  const auto finish = [&open](std::size_t index) {
    open[index].call.wait();
    open[index].check(open[index]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
  };
  constexpr std::size_t kSizes[] = {0, 1, 10, 1000, 4080, 5000, 70000};
  for (int i = 0; i < 60; ++i) {
    // In a job of very many processes there is not memory for all.
    const std::size_t n =
        std::min(kSizes[random() % std::size(kSizes)], (std::size_t{1} << 20) / procs());
    const auto key = static_cast<std::uint32_t>(random());
    const auto word = [key](std::uint32_t from, std::size_t at) {
      return key + from * 1000003u + static_cast<std::uint32_t>(at) * 7919u;
    };
    std::vector<std::uint32_t> mine(n), wide(n * procs());
    for (std::size_t at = 0; at < n; ++at) mine[at] = word(my_proc(), at);
    switch (random() % 5) {
      case 0: {
        const auto root = static_cast<std::uint32_t>(random() % procs());
        auto call = start_all_bcast(std::span(mine), root);
        open.push_back({std::move(mine), {}, std::move(call), [=](const Open& o) {
                          for (std::size_t at = 0; at < n; ++at)
                            ASSERT_EQ(o.mine[at], word(root, at));
                        }});
        break;
      }
      case 1: {
        auto call = start_all_gather(std::span(mine), std::span(wide));
        open.push_back({std::move(mine), std::move(wide), std::move(call), [=](const Open& o) {
                          for (std::size_t at = 0; at < n * procs(); ++at)
                            ASSERT_EQ(o.result[at],
                                      word(static_cast<std::uint32_t>(at / n), at % n));
                        }});
        break;
      }
      case 2: {
        std::vector<std::uint32_t> sums(n);
        auto call = start_all_reduce(std::span(mine), std::span(sums), std::plus<>());
        open.push_back({std::move(mine), std::move(sums), std::move(call), [=](const Open& o) {
                          for (std::size_t at = 0; at < n; ++at) {
                            std::uint32_t sum = 0;
                            for (std::uint32_t p = 0; p < procs(); ++p) sum += word(p, at);
                            ASSERT_EQ(o.result[at], sum);
                          }
                        }});
        break;
      }
      case 3: {
        std::vector<std::uint32_t> to(n * procs());
        for (std::size_t at = 0; at < to.size(); ++at) to[at] = word(my_proc(), at);
        auto call = start_all_to_all(std::span(to), std::span(wide));
        open.push_back({std::move(to), std::move(wide), std::move(call), [=](const Open& o) {
                          for (std::size_t at = 0; at < n * procs(); ++at)
                            ASSERT_EQ(o.result[at], word(static_cast<std::uint32_t>(at / n),
                                                         my_proc() * n + at % n));
                        }});
        break;
      }
      default: ASSERT_EQ(all_reduce(key, std::plus()), key * procs());
    }
    while (open.size() > random() % 6) finish(random() % open.size());
  }
  while (!open.empty()) finish(0);
}

TEST(Started, what_its_operation_throws_comes_out_of_its_wait) {
  auto sum = start_all_reduce(1, [](int, int) -> int { throw std::runtime_error("no"); });
  auto next = start_all_reduce(1u, std::plus<>());
  EXPECT_EQ(next.wait(), procs());
  if (procs() > 1) {
    EXPECT_THROW(sum.wait(), std::runtime_error);
  }
}

// Also where it runs in the wait of this process, not in a poll.
TEST(Started, its_operation_may_not_start_or_make_collective_calls) {
  if (procs() == 1) return;
  for (const bool waits : {true, false}) {
    auto sum = start_all_reduce(1u, [waits](unsigned a, unsigned b) {
      waits ? barrier() : start_barrier().wait();
      return a + b;
    });
    EXPECT_NE(test::error_of([&] { sum.wait(); }), "");
    auto polls = start_all_reduce(1u, [](unsigned a, unsigned b) {
      if (!am::Bundle::handling()) poll();
      return a + b;
    });
    EXPECT_EQ(polls.wait(), procs());
  }
}

TEST(Started, what_nobody_waits_for_throws_in_the_next_call) {
  if (procs() == 1) return;
  start_all_reduce(1, [](int, int) -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(barrier(), std::runtime_error);
  barrier();
}

TEST(Started, is_waited_for_once) {
  auto sum = start_all_reduce(1u, std::plus<>());
  auto moved = std::move(sum);
  test::expect_error([&] { sum.wait(); }, {"started::wait: there is nothing to wait for"});
  EXPECT_EQ(moved.wait(), procs());
  test::expect_error([&] { moved.wait(); }, {"started::wait: there is nothing to wait for"});
}

TEST(Started, calls_that_differ_are_told_apart) {
  if (!am::kChecked || procs() == 1) return;
  auto call = my_proc() == 0 ? start_all_reduce(1.0f, std::plus<>()) : start_all_bcast(1.0f);
  test::expect_error([&] { call.wait(); },
                     {"start_all_reduce of 4 bytes", "start_all_bcast of 4 bytes"});
  EXPECT_EQ(all_reduce(1u, std::plus()), procs());
}

TEST(Started, is_refused_where_no_collective_call_may_be_made) {
  barrier_notify();
  test::expect_error([] { start_barrier(); }, {"start_barrier: called between barrier_notify()"});
  barrier_wait();
  test::expect_error([] { start_all_bcast(1, procs()); },
                     {"start_all_bcast: there is no process " + std::to_string(procs())});
}

// Process 0 waits for its own, and the others drop it: none of them hears of it in the gather,
// which is more than boards hold.
TEST(Started, what_nobody_waits_for_does_not_end_another_started_call) {
  if (procs() == 1) return;
  {
    auto sum = start_all_reduce(1, [](int, int) -> int { throw std::runtime_error("no"); });
    if (my_proc() == 0) {
      EXPECT_THROW(sum.wait(), std::runtime_error);
    }
  }
  // So that many processes find room, too.
  const std::size_t each = std::min<std::size_t>(300'000, 2'400'000 / procs());
  const std::vector<std::uint32_t> mine(each, my_proc());
  std::vector<std::uint32_t> all(mine.size() * procs(), procs());
  auto gathered = start_all_gather(std::span(mine), std::span(all));
  gathered.wait();
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / mine.size());
  if (my_proc() != 0) {
    EXPECT_THROW(barrier(), std::runtime_error);
  }
  barrier();
}

// The last one: the end of the program waits for it.
TEST(Started, one_that_is_left_over_ends_before_the_program) {
  start_all_reduce(my_proc(), std::plus<>());
  start_barrier();
}

}  // namespace
