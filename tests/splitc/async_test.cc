// Tasks, when_all, when_any and then, of every kind of operation.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/support/seed.h"

namespace splitc {
namespace {

using ::test::right;

long value_of(std::uint32_t proc) { return 100 + long{proc}; }

// One long of every process, which holds value_of() it.
class Async : public testing::Test {
 protected:
  Async() : words(procs()) {
    words[my_proc()] = value_of(my_proc());
    barrier();
  }
  ~Async() override { barrier(); }
  global_ptr<long> at(std::uint32_t proc) { return &words[proc]; }

  spread_array<long> words;
};

task<long> sum_of(global_ptr<long> a, global_ptr<long> b) {
  auto x = get(a), y = get(b);
  co_return co_await x + co_await y;
}

TEST_F(Async, AFutureHoldsTheValueOfAGet) {
  EXPECT_EQ(get(at(right())).result(), value_of(right()));
  EXPECT_EQ(get(words[right()]).result(), value_of(right()));
  struct Large {
    std::array<long, 40> all;
  };
  spread_array<Large> large(procs());
  large.mine()[0].all.fill(value_of(my_proc()));
  barrier();
  EXPECT_EQ(get(&large[right()]).result().all[39], value_of(right()));
  barrier();
}

TEST_F(Async, ATaskReturnsWhatItHasWaitedFor) {
  task<long> sum = sum_of(at(0), at(right()));
  EXPECT_EQ(sum.result(), value_of(0) + value_of(right()));
}

TEST_F(Async, ATaskThatWaitsForNothingHasEndedAtOnce) {
  const auto now = []() -> task<int> { co_return 7; };
  task<int> seven = now();
  EXPECT_TRUE(seven.ready());
  EXPECT_EQ(seven.result(), 7);
}

TEST_F(Async, ATaskWaitsForEveryKindOfOperation) {
  spread_array<long> others(procs());
  const auto all = [&]() -> task<std::string> {
    long read = 0;
    co_await get(read, at(right()));
    co_await put(&others[right()], read + 1);
    co_await get(read, &others[right()]);
    std::string text = std::to_string(read);
    long before = 0;
    co_await start_fetch_and_add(before, &others[right()], 0L);
    text += " " + std::to_string(before);
    text += " " + std::to_string(co_await rpc(right(), [] { return my_proc(); }));
    co_await rpc(right(), [] {});
    text += " " + std::to_string(co_await start_all_reduce(1, std::plus<>()));
    co_await start_barrier();
    text += " " + std::to_string(co_await sum_of(at(0), at(0)));
    const auto [x, y, nothing] =
        co_await when_all(get(at(0)), sum_of(at(0), at(0)), get(read, at(0)));
    text += " " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(read);
    co_return text;
  };
  const std::string expected = std::to_string(value_of(right()) + 1);
  EXPECT_EQ(all().result(), expected + " " + expected + " " + std::to_string(right()) + " " +
                                std::to_string(procs()) + " 200 100 200 100");
  barrier();
}

TEST_F(Async, ManyTasksAreUnderWayTogether) {
  constexpr int kTasks = 500;
  std::vector<task<long>> tasks;
  long expected = 0;
  for (int i = 0; i < kTasks; ++i) {
    const auto a = static_cast<std::uint32_t>(i) % procs();
    const auto b = static_cast<std::uint32_t>(i) / 7 % procs();
    tasks.push_back(sum_of(at(a), at(b)));
    expected += value_of(a) + value_of(b);
  }
  long sum = 0;
  for (const long one : when_all(std::move(tasks)).result()) sum += one;
  EXPECT_EQ(sum, expected);
}

// Each step of a walk needs the one before, and walks of many tasks are interleaved.
TEST_F(Async, WalksOfManyTasksFollowPointersOfOtherProcesses) {
  const std::uint64_t seed = test::seed();
  constexpr std::size_t kNodes = 64, kSteps = 40, kWalks = 30;
  spread_array<std::uint64_t> next(kNodes);
  const auto next_of = [&](std::uint64_t i) { return (i * 6364136223846793005U + seed) % kNodes; };
  for (std::size_t i : next.my_indices()) next[i] = next_of(i);
  barrier();
  const auto walk = [&](std::uint64_t from) -> task<std::uint64_t> {
    for (std::size_t step = 0; step < kSteps; ++step) from = co_await get(&next[from]);
    co_return from;
  };
  std::vector<task<std::uint64_t>> walks;
  for (std::size_t i = 0; i < kWalks; ++i) walks.push_back(walk(i));
  for (std::size_t i = 0; i < kWalks; ++i) {
    std::uint64_t expected = i;
    for (std::size_t step = 0; step < kSteps; ++step) expected = next_of(expected);
    EXPECT_EQ(walks[i].result(), expected) << "walk " << i << " of seed " << seed;
  }
  barrier();
}

TEST_F(Async, TasksGoOnInPollAndInWaitUntil) {
  int done = 0;
  const auto count = [&done](global_ptr<long> p) -> task<> {
    co_await rpc_at(p, [](long& word) { return word; });
    ++done;
  };
  task<> polled = count(at(right()));
  while (done == 0) poll();
  task<> waited = count(at(right()));
  wait_until([&] { return done == 2; });
  EXPECT_TRUE(polled.ready());
  EXPECT_TRUE(waited.ready());
}

TEST_F(Async, NoTaskGoesOnInACallThatWaits) {
  constexpr std::size_t kMuch = 100000;
  spread_array<long> much(procs() * kMuch, blocked);
  const std::vector<long> longs(kMuch, 1);
  const auto store_much = [&](store_counter& counter) {
    bulk_store(much.on(right()), std::span<const long>(longs), counter);
  };
  put_channel<long> channel(much.on(right()), longs);
  const team all = team::world();
  dist_object<long> words_of_all(value_of(my_proc()));
  auto look_up = aggregate_lookups<int>(words_of_all, [](const long& word, int) { return word; });
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"barrier", [] { barrier(); }},
      {"all_reduce", [] { all_reduce(1L, std::plus<>()); }},
      {"team::barrier", [&] { all.barrier(); }},
      {"read", [&] { EXPECT_EQ(*at(right()), value_of(right())); }},
      {"rpc", [] { rpc(right(), [] {}).wait(); }},
      {"lookups::wait",
       [&] {
         long word = 0;
         look_up.get(right(), 0, word);
         look_up.wait();
         EXPECT_EQ(word, value_of(right()));
       }},
      {"all_store_sync", [&] { store_much(store_counter::default_counter()), all_store_sync(); }},
      {"store_sync",
       [&] { store_much(store_counter::default_counter()), store_sync(kMuch * sizeof(long)); }},
      {"~store_counter",
       [&] {
         store_counter counter;
         store_much(counter);
       }},
      {"put_channel::wait_reusable", [&] { channel.put(), channel.wait_reusable(); }},
      {"put_channel::wait", [&] { channel.wait(), channel.ready(), barrier(); }},
  };
  for (int round = 0; round < 10; ++round) {
    for (const auto& [name, call] : calls) {
      bool gone_on = false;
      const auto waits = [&gone_on]() -> task<> {
        co_await rpc(right(), [] {});
        gone_on = true;
      };
      task<> waiting = waits();
      rpc(right(), [] {}).wait();   // behind the task's, whose answer has come then
      const bool before = gone_on;  // alone there is nothing to wait for
      call();
      EXPECT_EQ(gone_on, before) << "in " << name << ", round " << round;
      waiting.result();
    }
  }
  barrier();
}

TEST_F(Async, WhenAnyNamesOneThatIsComplete) {
  if (procs() == 1) return;  // every operation is complete at once
  bool told = false;
  const auto until_told = [&told]() -> task<> {
    while (!told) co_await rpc(right(), [] {});
  };
  task<> other = until_told();
  auto answer = rpc(right(), [] { return my_proc(); });
  EXPECT_EQ(when_any(other, answer).result(), 1u);
  EXPECT_EQ(answer.result(), right());
  const auto in_task = [&]() -> task<std::size_t> { co_return co_await when_any(other, answer); };
  EXPECT_EQ(in_task().result(), 1u);
  told = true;
  other.wait();
}

TEST_F(Async, WhenAnyLeavesTheOthersUnderWay) {
  const auto race = [&]() -> task<long> {
    long sum = 0;
    for (int i = 0; i < 50; ++i) {
      auto a = rpc(right(), [] { return 1L; });
      auto b = rpc_at(at((right() + 1) % procs()), [](long&) { return 10L; });
      static_cast<void>(co_await when_any(a, b));
      sum += co_await a + co_await b;
    }
    co_return sum;
  };
  EXPECT_EQ(race().result(), 550);
}

TEST_F(Async, ThenCallsItsFunctionWithTheResult) {
  auto text = then(rpc(right(), [] { return 4; }), [](int n) { return std::to_string(n); });
  EXPECT_EQ(text.result(), "4");
  long read = 0;
  auto chained =
      then(then(get(read, at(right())), [&] { return read + 1; }), [](long n) { return n * 2; });
  EXPECT_EQ(chained.result(), 2 * (value_of(right()) + 1));
}

TEST_F(Async, WhatATaskThrowsComesOutWithItsResult) {
  const auto fails = [](global_ptr<long> p) -> task<long> {
    const long read = co_await get(p);
    throw std::runtime_error("read " + std::to_string(read));
  };
  const auto passes_on = [&]() -> task<long> { co_return co_await fails(at(0)) + 1; };
  EXPECT_THROW(fails(at(right())).result(), std::runtime_error);
  EXPECT_THROW(passes_on().result(), std::runtime_error);
}

TEST_F(Async, WhatADroppedTaskThrowsComesOutOfAPoll) {
  bool thrown = false;
  const auto fails = [&thrown]() -> task<> {
    co_await rpc(right(), [] {});
    thrown = true;
    throw std::runtime_error("nobody takes this");
  };
  static_cast<void>(fails());
  const auto poll_until_thrown = [&] {
    do poll();
    while (!thrown);
  };
  if (procs() > 1) {
    EXPECT_THROW(poll_until_thrown(), std::runtime_error);
  } else {
    EXPECT_THROW(poll(), std::runtime_error);
  }
}

TEST_F(Async, ADroppedTaskEndsAndItsFrameIsFreed) {
  const auto kept = std::make_shared<int>(0);
  const auto count = [](std::shared_ptr<int> n, global_ptr<long> p) -> task<> {
    co_await rpc_at(p, [](long&) {});
    ++*n;
  };
  for (int i = 0; i < 100; ++i) static_cast<void>(count(kept, at(right())));
  wait_until([&] { return *kept == 100 && kept.use_count() == 1; });
}

TEST_F(Async, AResultIsTakenOnce) {
  task<long> sum = sum_of(at(0), at(0));
  EXPECT_EQ(sum.result(), 200);
  test::expect_error([&] { static_cast<void>(sum.result()); }, {"its result has been taken"});
}

TEST_F(Async, AResumedTaskMayNotWaitForAnother) {
  task<long> other = sum_of(at(right()), at(right()));
  const auto waits = [&]() -> task<std::string> {
    co_await rpc(right(), [] {});
    bool released = false;
    const auto later = [&]() -> task<> {
      while (!released) co_await rpc(right(), [] {});
    };
    task<> endless = later();
    std::string sentence = test::error_of([&] { endless.wait(); });
    released = true;
    co_await endless;
    co_return sentence;
  };
  if (procs() == 1) return;  // nothing has to wait
  EXPECT_NE(waits().result().find("task::wait: called in a task that has been resumed"),
            std::string::npos);
  other.wait();
}

TEST_F(Async, AHandlerMayNotStartATask) {
  const auto start = [] {
    const auto now = []() -> task<int> { co_return 7; };
    const std::string sentence = test::error_of([&] { static_cast<void>(now()); });
    return sentence.find("task: called by a handler") != std::string::npos;
  };
  if (procs() > 1) {
    EXPECT_TRUE(rpc(right(), start).result());
  }
}

TEST_F(Async, QuiesceWaitsForCollectiveCallsThatWereStarted) {
  int counted = 0;
  dist_object<int*> mine(&counted);
  auto sum = start_all_reduce(1u, std::plus<>());
  rpc_ff(
      right(), [](int*& count) { ++*count; }, mine);
  quiesce();
  EXPECT_TRUE(sum.ready());
  EXPECT_EQ(sum.wait(), procs());
  EXPECT_EQ(counted, 1);
}

TEST_F(Async, ADroppedGetOfMuchWritesNoMemoryOfOthers) {
  using Large = std::array<long, 40>;
  spread_array<Large> large(procs());
  large.mine()[0].fill(-1);
  barrier();
  for (int round = 0; round < 50; ++round) {
    { const auto dropped = get(&large[right()]); }
    std::vector<std::vector<long>> others(20, std::vector<long>(40, 7));
    sync();
    for (const auto& other : others) EXPECT_EQ(other, std::vector<long>(40, 7));
  }
  barrier();
}

// Each waits for the same objects, and all of them go on.
TEST_F(Async, SeveralTasksWaitForOneCombination) {
  auto a = rpc(right(), [] { return 3; });
  auto b = rpc(right(), [] { return 4; });
  auto any = when_any(a, b);
  auto all = when_all(get(at(right())), get(at(0)));
  const auto wait_for_any = [&]() -> task<std::size_t> { co_return co_await any; };
  const auto wait_for_all = [&]() -> task<long> {
    const auto [x, y] = co_await all;
    co_return x + y;
  };
  std::vector<task<std::size_t>> any_of;
  std::vector<task<long>> all_of;
  for (int i = 0; i < 3; ++i) {
    any_of.push_back(wait_for_any());
    all_of.push_back(wait_for_all());
  }
  for (const std::size_t first : when_all(std::move(any_of)).result()) EXPECT_LT(first, 2u);
  for (const long sum : when_all(std::move(all_of)).result()) {
    EXPECT_EQ(sum, value_of(right()) + value_of(0));
  }
}

TEST_F(Async, WhenAnyOfATaskWhoseResultIsTakenMeanwhileIsComplete) {
  task<long> shared = sum_of(at(right()), at(right()));
  const auto takes = [&]() -> task<long> { co_return co_await shared; };
  bool released = false;
  const auto until_released = [&]() -> task<> {
    while (!released) co_await rpc(right(), [] {});
  };
  const auto waits = [&](task<>& slow) -> task<std::size_t> {
    co_return co_await when_any(shared, slow);
  };
  if (procs() == 1) released = true;
  task<long> taken = takes();
  task<> slow = until_released();
  EXPECT_EQ(waits(slow).result(), 0u);
  EXPECT_EQ(taken.result(), 2 * value_of(right()));
  released = true;
  slow.wait();
}

TEST_F(Async, AQueueGivesWhatIsCompleteByItsTag) {
  constexpr int kCount = 200;
  std::vector<long> got(kCount);
  completion_queue<int> done;
  for (int i = 0; i < kCount; ++i) {
    done.add(get(got[i], at(static_cast<std::uint32_t>(i) % procs())), i);
  }
  std::set<int> tags;
  while (done.pending() + done.size() != 0) {
    const int tag = done.pop();
    EXPECT_TRUE(tags.insert(tag).second);
    EXPECT_EQ(got[tag], value_of(static_cast<std::uint32_t>(tag) % procs()));
  }
  EXPECT_EQ(tags.size(), std::size_t{kCount});
  EXPECT_EQ(done.try_pop(), std::nullopt);
  test::expect_error([&] { done.pop(); }, {"completion_queue::pop: no operation is under way"});
}

TEST_F(Async, AQueueTakesResultsByAFunctionOfThem) {
  completion_queue<long> done;
  long expected = 0;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    done.add(get(at(proc)), [](long value) { return 2 * value; });
    done.add(rpc(proc, [] {}), [] { return 1L; });
    expected += 2 * value_of(proc) + 1;
  }
  long sum = 0;
  for (std::uint32_t i = 0; i < 2 * procs(); ++i) sum += done.pop();
  EXPECT_EQ(sum, expected);
}

TEST_F(Async, AQueueThatEndsWaitsForWhatIsUnderWay) {
  std::vector<long> got(procs());
  {
    completion_queue<int> done;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) done.add(get(got[proc], at(proc)), 0);
  }
  for (std::uint32_t proc = 0; proc < procs(); ++proc) EXPECT_EQ(got[proc], value_of(proc));
}

// What does not fit on a board needs all processes: it is not entered on behalf of another wait.
TEST_F(Async, AWaitForSomethingElseDoesNotEnterALargeCollectiveCall) {
  std::vector<long> mine(1 << 20, my_proc()), sum(mine.size());
  spread_array<std::uint64_t> told(procs());
  told.mine()[0] = 0;
  barrier();
  auto large = start_all_reduce(std::span(mine), std::span(sum), std::plus<>());
  if (my_proc() == 0) {
    when_all(rpc(right(), [] {}), get(at(right()))).wait();
    const auto waits = [&]() -> task<long> { co_return co_await get(at(right())); };
    EXPECT_EQ(waits().result(), value_of(right()));
    for (std::uint32_t p = 0; p < procs(); ++p) put_signal(at(p), {}, &told[p]);
  }
  wait_until(told.mine()[0], [](std::uint64_t n) { return n == 1; });
  const auto in_task = [&]() -> task<> { co_await std::move(large); };
  in_task().result();
  const long all = long{procs()} * (procs() - 1) / 2;
  EXPECT_EQ(sum.front(), all);
  EXPECT_EQ(sum.back(), all);
}

}  // namespace
}  // namespace splitc
