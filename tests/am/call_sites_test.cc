#include "am/statistics/call_sites.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace am {
namespace {

std::map<std::string, CallSites::Site> by_call(const CallSites& sites) {
  std::map<std::string, CallSites::Site> all;
  for (const CallSites::Site& site : sites.sites()) all[site.place.call] = site;
  return all;
}

TEST(CallSites, are_active_while_they_live) {
  EXPECT_EQ(CallSites::active(), nullptr);
  {
    CallSites sites(1);
    EXPECT_EQ(CallSites::active(), &sites);
  }
  EXPECT_EQ(CallSites::active(), nullptr);
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
    sites.count({"get", first, caller}, 0, 1);
    sites.count({"get", second, caller}, 0, 1);
  }
  EXPECT_EQ(sites.sites().size(), 4u);
}

TEST(CallSites, have_room_for_so_many_places) {
  CallSites sites(1);
  std::vector<char> callers(2 * CallSites::kMost);
  for (int round = 0; round < 2; ++round) {
    for (const char& caller : callers) sites.count({"get", {}, &caller}, 0, 1);
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

struct Why {
  const char* call;
  SourceLocation where;
  const void* caller;
  const char* needs;
};

TEST(TimedWait, is_counted_for_what_explains_it_also_when_an_exception_ends_it) {
  CallSites sites(1);
  const auto explain = [] { return Why{"barrier", {}, nullptr, "all"}; };
  { const TimedWait timed(explain); }
  try {
    const TimedWait timed(explain);
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(by_call(sites).at("barrier").waits, 2u);
  EXPECT_STREQ(by_call(sites).at("barrier").needs, "all");
}

TEST(CallSites, tell_routes_apart) {
  CallSites sites(2);
  sites.count({"get", {}, nullptr}, 1, 8);
  sites.count_near({"get", {}, nullptr}, 0, 4);
  sites.count_near({"get", {}, nullptr}, 1, 4);
  const auto all = by_call(sites);
  EXPECT_EQ(all.at("get").far.operations, 1u);
  EXPECT_EQ(all.at("get").near.operations, 2u);
  EXPECT_EQ(all.at("get").near.bytes, 8u);
  EXPECT_EQ(sites.traffic()[1].bytes, 12u);
}

TEST(TimedWait, asks_nothing_when_nobody_counts) {
  bool asked = false;
  const auto explain = [&] {
    asked = true;
    return Why{};
  };
  { const TimedWait timed(explain); }
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace am
