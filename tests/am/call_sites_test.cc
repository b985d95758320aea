#include "am/observe/call_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "am/observe/observed_wait.h"
#include "am/types/clock.h"

namespace am {
namespace {

std::map<std::string, CallSites::Site> by_call(const CallSites& sites) {
  std::map<std::string, CallSites::Site> all;
  for (const CallSites::Site& site : sites.sites()) all[site.call.name] = site;
  return all;
}

TEST(CallSites, are_active_while_they_live) {
  EXPECT_EQ(active_call_sites(), nullptr);
  {
    CallSites sites(1);
    EXPECT_EQ(active_call_sites(), &sites);
  }
  EXPECT_EQ(active_call_sites(), nullptr);
}

TEST(CallSites, add_up_what_comes_from_one_place) {
  CallSites sites(3);
  const SourceLocation here = SourceLocation::current();
  const char other_get[] = "get";  // the same text elsewhere, as in another part of the program
  sites.count({"get", here}, 1, 8);
  sites.count({other_get, here}, 2, 80);
  sites.waited({"get", here}, 1000);
  sites.count({"put", here}, 2, 1);
  sites.count({"put", here}, 3, 1);  // no such process: it counts all the same
  const auto all = by_call(sites);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("get").far.operations, 2u);
  EXPECT_EQ(all.at("get").far.bytes, 88u);
  EXPECT_EQ(all.at("get").waits, 1u);
  EXPECT_EQ(all.at("get").waited_ns, 1000u);
  EXPECT_EQ(all.at("put").far.operations, 2u);
  EXPECT_EQ(sites.traffic()[1].operations, 1u);
  EXPECT_EQ(sites.traffic()[2].bytes, 81u);
}

TEST(CallSites, tell_lines_and_callers_apart) {
  CallSites sites(1);
  const SourceLocation first = SourceLocation::current();
  const SourceLocation second = SourceLocation::current();
  for (const char* const caller : {"a", "b"}) {
    sites.count({"get", SourceLocation::returning_to(caller)}, 0, 1);
  }
  for (const SourceLocation& line : {first, second, first}) sites.count({"get", line}, 0, 1);
  EXPECT_EQ(sites.sites().size(), 4u);
}

TEST(CallSites, have_room_for_so_many_places) {
  CallSites sites(1);
  std::vector<char> callers(2 * CallSites::kMost);
  for (int round = 0; round < 2; ++round) {
    for (const char& caller : callers)
      sites.count({"get", SourceLocation::returning_to(&caller)}, 0, 1);
  }
  EXPECT_EQ(sites.sites().size(), CallSites::kMost + 1);
  EXPECT_EQ(by_call(sites).at(CallSites::kOthers).far.operations, 2 * CallSites::kMost);
}

TEST(CallSites, count_what_several_threads_do) {
  CallSites sites(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) sites.count({n % 2 == 0 ? "get" : "put"}, 0, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(by_call(sites).at("get").far.operations, 2000u);
  EXPECT_EQ(by_call(sites).at("put").far.operations, 2000u);
}

TEST(CallSites, go_on_when_threads_come_and_go) {
  CallSites sites(1);
  for (int i = 0; i < 1000; ++i) {
    std::thread([&] { sites.count({"get"}, 0, 8); }).join();
  }
  EXPECT_EQ(by_call(sites).at("get").far.operations, 1000u);
  EXPECT_EQ(by_call(sites).at("get").far.bytes, 8000u);
}

TEST(CallSites, are_read_while_threads_count) {
  CallSites sites(1);
  std::atomic<bool> done{false};
  std::thread counting([&] {
    for (int n = 0; n < 100'000; ++n) sites.waited({"sync"}, 1, "a credit");
    done = true;
  });
  std::uint64_t last = 0;
  while (!done) {
    for (const CallSites::Site& site : sites.sites()) {
      EXPECT_GE(site.waits, last);
      last = site.waits;
    }
  }
  counting.join();
  EXPECT_EQ(by_call(sites).at("sync").waits, 100'000u);
  EXPECT_EQ(by_call(sites).at("sync").waited_ns, 100'000u);
}

// What it chooses stands for all on the average, whatever the period of what is chosen from.
TEST(WaitSample, stands_for_all_waits_of_programs_that_repeat_themselves) {
  WaitSample sample;
  for (std::uint32_t i = 0; i < WaitSample::kFirst; ++i) ASSERT_EQ(sample.next(), 1u);
  constexpr int kWaits = 6'400'000;
  for (const int period : {1, 2, 3, 64, 100}) {
    std::vector<double> stood_for(period);
    for (int i = 0; i < kWaits; ++i) stood_for[i % period] += sample.next();
    for (const double sum : stood_for) {
      const double expected = double{kWaits} / period;
      EXPECT_NEAR(sum, expected, 5 * 8 * std::sqrt(expected)) << period;  // five deviations
    }
  }
}

TEST(WaitSample, takes_all_waits_after_one_that_took_long) {
  WaitSample sample;
  for (std::uint32_t i = 0; i < WaitSample::kFirst; ++i) sample.next();
  sample.took(WaitSample::kLongNs - 1);
  int all = 0;
  while (sample.next() == 1) ++all;
  EXPECT_EQ(all, 0);
  sample.took(WaitSample::kLongNs);
  while (sample.next() == 1) ++all;
  EXPECT_EQ(all, static_cast<int>(WaitSample::kAfterLong));
}

TEST(ObservedWait, is_counted_for_what_explains_it_also_when_an_exception_ends_it) {
  CallSites sites(1);
  const auto explain = [] { return Reason{.call = "barrier", .needs = "all"}; };
  { ObservedWait timed(explain); }
  try {
    ObservedWait timed(explain);
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(by_call(sites).at("barrier").waits, 2u);
  EXPECT_STREQ(by_call(sites).at("barrier").needs, "all");
}

TEST(ObservedWait, counts_each_wait_and_all_of_the_time_of_those_that_yield) {
  CallSites sites(1);
  const auto explain = [] { return Reason{.call = "barrier"}; };
  constexpr int kShort = 100'000;
  for (int i = 0; i < kShort; ++i) ObservedWait timed(explain);
  const std::int64_t before = static_cast<std::int64_t>(by_call(sites).at("barrier").waited_ns);
  EXPECT_EQ(by_call(sites).at("barrier").waits, static_cast<std::uint64_t>(kShort));
  std::int64_t lasted = 0;
  for (int i = 0; i < 100; ++i) {
    ObservedWait timed(explain);
    timed.yields();
    const std::int64_t begin = now_ns();
    while (now_ns() == begin) {
    }
    lasted += now_ns() - begin;
  }
  EXPECT_EQ(by_call(sites).at("barrier").waits, kShort + 100u);
  EXPECT_GE(static_cast<std::int64_t>(by_call(sites).at("barrier").waited_ns), before + lasted);
}

TEST(ObservedWait, is_timed_from_some_look_on) {
  CallSites sites(1);
  const auto explain = [] { return Reason{.call = "barrier"}; };
  while (sites.sample().next() == 1) {
  }
  const auto waited = [&] { return by_call(sites).at("barrier").waited_ns; };
  const auto wait = [&](std::uint64_t looks) {
    ObservedWait timed(explain);
    for (std::uint64_t i = 0; i < looks; ++i) timed.looked();
    for (const std::int64_t begin = now_ns(); now_ns() == begin;) {
    }
  };
  // Which of them are in the sample is always the same: not these.
  wait(WaitTime::kShort - 1);
  EXPECT_EQ(waited(), 0u);
  wait(WaitTime::kShort);
  EXPECT_GT(waited(), 0u);
}

TEST(ObservedWait, does_not_multiply_what_a_handler_took) {
  CallSites sites(1);
  const auto explain = [] { return Reason{.call = "barrier"}; };
  while (sites.sample().next() == 1) {
  }
  // Until one of the sample comes.
  constexpr std::int64_t kHandlerNs = 20'000'000;
  const std::int64_t begin = now_ns();
  for (std::uint64_t counted = 0; counted == 0;) {
    {
      ObservedWait timed(explain);
      for (const std::int64_t from = now_ns(); now_ns() - from < kHandlerNs;) {
      }
    }
    counted = by_call(sites).at("barrier").waited_ns;
  }
  const std::int64_t lasted = now_ns() - begin;
  EXPECT_LE(static_cast<std::int64_t>(by_call(sites).at("barrier").waited_ns),
            std::max(lasted, std::int64_t{64'000'000}));
}

TEST(CallSites, tell_routes_apart) {
  CallSites sites(2);
  sites.count("get", 1, 8);
  sites.count_near("get", 0, 4);
  sites.count_near("get", 1, 4);
  const auto all = by_call(sites);
  EXPECT_EQ(all.at("get").far.operations, 1u);
  EXPECT_EQ(all.at("get").near.operations, 2u);
  EXPECT_EQ(all.at("get").near.bytes, 8u);
  EXPECT_EQ(sites.traffic()[1].bytes, 12u);
}

TEST(ObservedWait, asks_nothing_when_nobody_counts) {
  bool asked = false;
  const auto explain = [&] {
    asked = true;
    return Reason{};
  };
  { ObservedWait timed(explain); }
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace am
