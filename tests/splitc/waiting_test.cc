// Everything that is under way is asked and waited for by the same words, and a loop that only asks
// comes to an end.

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/side_channel.h"

namespace splitc {
namespace {

using ::test::left;
using ::test::right;

template <class X>
concept under_way = requires(X& x) {
  { x.ready() } -> std::same_as<bool>;
  { x.try_wait() } -> std::same_as<bool>;
  x.wait();
  x.result();
};
static_assert(under_way<handle> && under_way<future<int>> && under_way<future<void>>);
static_assert(under_way<started<>> && under_way<started<int>> && under_way<task<>>);
static_assert(under_way<decltype(when_all(handle(), future<void>()))> &&
              under_way<decltype(when_all(std::vector<handle>()))>);

TEST(Waiting, a_loop_that_asks_ends_for_handles_futures_and_tasks) {
  spread_array<long> x(procs());
  x.mine()[0] = my_proc();
  barrier();
  long there = -1;
  const handle read = get(there, x[right()]);
  while (!read.try_wait()) continue;
  EXPECT_EQ(there, long{right()});
  auto sum = rpc(
      right(), [](long y) { return y + my_proc(); }, 5L);
  while (!sum.try_wait()) continue;
  EXPECT_EQ(sum.result(), 5 + long{right()});
  auto called = rpc(right(), [] {});
  while (!called.try_wait()) continue;
  auto both = when_all(get(&x[right()]), get(&x[left()]));
  while (!both.try_wait()) continue;
  EXPECT_EQ(both.result(), (std::tuple<long, long>(right(), left())));
  auto next = then(get(&x[left()]), [](long y) { return y + 1; });
  while (!next.try_wait()) continue;
  EXPECT_EQ(next.result(), long{left()} + 1);
  barrier();
}

TEST(Waiting, a_loop_that_asks_ends_for_started_calls) {
  auto sum = start_all_reduce(my_proc(), std::plus<>());
  while (!sum.ready()) continue;
  EXPECT_EQ(sum.result(), procs() * (procs() - 1) / 2);
  auto of_team = team::world().start_all_gather(my_proc());
  while (!of_team.try_wait()) continue;
  EXPECT_EQ(of_team.result().back(), procs() - 1);
}

TEST(Waiting, a_loop_that_asks_ends_for_stores_and_channels) {
  spread_array<long> x(procs());
  store_counter counter;
  store(x[right()], long{my_proc()}, counter);
  while (!counter.try_wait(sizeof(long))) continue;
  EXPECT_EQ(x.mine()[0], long{left()});
  barrier();
  const long mine = -long{my_proc()};
  put_channel<long> channel(&x[right()], std::span(&mine, 1));
  channel.put();
  while (!channel.try_wait()) continue;
  EXPECT_EQ(x.mine()[0], -long{left()});
  std::vector<long> sum(1);
  reduce_channel<long> reduce(std::span(&mine, 1), sum);
  reduce.put();
  while (!reduce.try_wait()) continue;
  if (my_proc() == 0) {
    EXPECT_EQ(sum[0], -long{procs()} * (procs() - 1) / 2);
  }
  barrier();
}

// Processes that have left a call may compute for long: what they have sent in it, to be passed on
// or not, has left with them.
TEST(Waiting, nobody_waits_for_those_who_have_left_a_call_and_do_not_poll) {
  ::test::SideChannel left("left");
  std::uint64_t rounds = 0;
  // A connection that is being made needs the polls of both.
  for (std::uint32_t proc = 0; proc < procs(); ++proc) rpc(proc, [] {}).wait();
  barrier();
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{40'000}}) {
    const std::vector<char> mine(bytes, static_cast<char>(my_proc()));
    const std::vector<char> parts(bytes * procs());
    std::vector<char> one(bytes), all(bytes * procs());
    const std::uint32_t root = procs() - 1;
    const std::vector<std::function<void()>> calls{
        [&] { all_bcast(std::span(one)); },
        [&] { all_bcast(std::span(one), root); },
        [&] { all_gather_to_one(mine, std::span(all)); },
        [&] { (void)all_reduce_to_one(my_proc(), std::plus<>()); },
        [&] { all_reduce(mine, std::span(one), maximum()); },
        [&] { (void)all_scan(my_proc(), std::plus<>()); },
        [&] { all_gather(mine, std::span(all)); },
        [&] { all_to_all(parts, std::span(all)); },
        [&] { start_all_reduce(mine, one, maximum()).wait(); },
        [] { team::world().barrier(); },
        [] { barrier(); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "call " << i << " of " << bytes << " bytes");
      for (int times = 0; times < 5; ++times) calls[i]();
      left.add(1);
      left.await(++rounds * procs());  // nobody polls until all have come here
    }
  }
  barrier();
}

}  // namespace
}  // namespace splitc
