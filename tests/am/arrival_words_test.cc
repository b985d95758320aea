#include "am/arrival_words.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

namespace am {
namespace {

TEST(ArrivalWords, find_what_they_were_given_for_until_removed) {
  ArrivalWords words(64);
  std::vector<std::uint64_t> given;
  for (std::uint32_t arrival = 0; arrival < 1000; ++arrival) given.push_back(words.add(arrival));
  for (std::uint32_t arrival = 0; arrival < 1000; ++arrival) {
    EXPECT_EQ(words.find(given[arrival]), std::optional(arrival));
  }
  words.remove(given[7]);
  EXPECT_EQ(words.find(given[7]), std::nullopt);
  EXPECT_EQ(words.find(given[8]), std::optional(8u));
  EXPECT_EQ(words.find(0), std::nullopt);
}

TEST(ArrivalWords, all_differ_and_none_is_0_even_if_random_numbers_repeat) {
  const std::vector<std::uint64_t> numbers = {0, 5, 5, 0, 5, 6, 6, 7};
  std::size_t at = 0;
  ArrivalWords words(64, [&] { return numbers[at++]; });
  EXPECT_EQ(words.add(1), 5u);
  EXPECT_EQ(words.add(2), 6u);
  EXPECT_EQ(words.add(3), 7u);
}

TEST(ArrivalWords, fit_what_the_network_carries) {
  ArrivalWords words(32);
  std::set<std::uint64_t> given;
  for (std::uint32_t arrival = 0; arrival < 1000; ++arrival) given.insert(words.add(arrival));
  EXPECT_EQ(given.size(), 1000u);
  EXPECT_LT(*given.rbegin(), std::uint64_t{1} << 32);
  EXPECT_GT(*given.rbegin(), std::uint64_t{1} << 28) << "and use all of it";
}

}  // namespace
}  // namespace am
