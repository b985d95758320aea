#include "am/far/arrival_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace am {
namespace {

struct Notified final : ArrivalSink {
  void arrived(std::uint32_t arrival) override { all.push_back(arrival); }
  std::vector<std::uint32_t> all;
};

TEST(ArrivalWords, notify_whom_they_were_given_to_until_removed) {
  ArrivalWords words(64);
  Notified even, odd;
  std::vector<std::uint64_t> given;
  std::vector<std::uint32_t> evens, odds;
  for (std::uint32_t arrival = 0; arrival < 1000; ++arrival) {
    given.push_back(words.add(arrival, arrival % 2 == 0 ? even : odd));
    (arrival % 2 == 0 ? evens : odds).push_back(arrival);
  }
  for (const std::uint64_t word : given) EXPECT_TRUE(words.arrived(word));
  EXPECT_EQ(even.all, evens);
  EXPECT_EQ(odd.all, odds);
  words.remove(given[7]);
  EXPECT_FALSE(words.arrived(given[7]));
  EXPECT_TRUE(words.arrived(given[8]));
  EXPECT_FALSE(words.arrived(0));
  EXPECT_EQ(odd.all, odds) << "nobody is notified by a word that was not given";
}

TEST(ArrivalWords, all_differ_and_none_is_0_even_if_random_numbers_repeat) {
  const std::vector<std::uint64_t> numbers = {0, 5, 5, 0, 5, 6, 6, 7};
  std::size_t at = 0;
  Notified sink;
  ArrivalWords words(64, [&] { return numbers[at++]; });
  EXPECT_EQ(words.add(1, sink), 5u);
  EXPECT_EQ(words.add(2, sink), 6u);
  EXPECT_EQ(words.add(3, sink), 7u);
}

TEST(ArrivalWords, fit_what_the_network_carries) {
  Notified sink;
  ArrivalWords words(32);
  std::set<std::uint64_t> given;
  for (std::uint32_t arrival = 0; arrival < 1000; ++arrival) {
    given.insert(words.add(arrival, sink));
  }
  EXPECT_EQ(given.size(), 1000u);
  EXPECT_LT(*given.rbegin(), std::uint64_t{1} << 32);
  EXPECT_GT(*given.rbegin(), std::uint64_t{1} << 28) << "and use all of it";
}

}  // namespace
}  // namespace am
