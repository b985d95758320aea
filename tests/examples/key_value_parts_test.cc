// The histogram of key_value, beside sorted values; and its values, whole and damaged.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "examples/key_value/histogram.h"
#include "examples/key_value/value.h"

namespace key_value {
namespace {

constexpr double kPercents[] = {0, 1, 50, 90, 99, 99.9, 100};

// Expects percentiles that are those of the values, or so much larger as their class is wide.
void expect_percentiles(std::vector<std::uint64_t> values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.add(value);
  std::ranges::sort(values);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.max(), values.back());
  for (const double percent : kPercents) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const std::uint64_t exact = values[std::max<std::size_t>(1, rank) - 1];
    const std::uint64_t found = histogram.percentile(percent);
    EXPECT_GE(found, exact) << percent;
    EXPECT_LE(found, exact < 256 ? exact : exact + exact / 128) << percent;
  }
}

TEST(Histogram, has_the_percentiles_of_its_values) {
  std::mt19937_64 random(3);
  for (const int bits : {1, 8, 9, 20, 41}) {
    std::vector<std::uint64_t> values(1000);
    for (std::uint64_t& value : values) value = random() >> (64 - bits);
    expect_percentiles(values);
  }
}

// Where one class ends and the next begins.
TEST(Histogram, has_them_of_single_values) {
  for (int bits = 0; bits < 42; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power - 1, power, power + 1}) expect_percentiles({value});
  }
}

TEST(Histogram, of_nothing_is_zero) {
  EXPECT_EQ(Histogram().count(), 0u);
  EXPECT_EQ(Histogram().max(), 0u);
  EXPECT_EQ(Histogram().percentile(99), 0u);
}

TEST(Histogram, counts_what_is_too_large_as_the_largest) {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.max(), (std::uint64_t{1} << 42) - 1);
  EXPECT_EQ(histogram.percentile(50), histogram.max());
}

TEST(Histogram, of_several_is_their_sum) {
  Histogram a, b, both;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).add(i * i);
    both.add(i * i);
  }
  std::vector<std::uint64_t> counts(a.counts().begin(), a.counts().end());
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += b.counts()[i];
  const Histogram sum(std::move(counts), std::max(a.max(), b.max()));
  for (const double percent : kPercents)
    EXPECT_EQ(sum.percentile(percent), both.percentile(percent));
}

class Value : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { make_value(7, Stamp::of(3, 1000), words); }
  Words words = Words(GetParam());
};

TEST_P(Value, is_one_of_its_key_only) {
  EXPECT_TRUE(is_value(7, words));
  EXPECT_FALSE(is_value(8, words));
  EXPECT_EQ(Stamp{words[1]}.writer(), 3u);
  EXPECT_EQ(Stamp{words[1]}.number(), 1000u);
}

TEST_P(Value, is_none_when_it_is_damaged) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.size() == kMinWords && i == 1) continue;  // nothing else depends on the stamp
    words[i] ^= 1;
    EXPECT_FALSE(is_value(7, words)) << i;
    words[i] ^= 1;
  }
  EXPECT_TRUE(is_value(7, words));
  EXPECT_FALSE(is_value(7, std::span(words).first(1)));
  EXPECT_FALSE(is_value(7, {}));
}

TEST_P(Value, changes_into_that_of_another_stamp) {
  Words other(GetParam());
  make_value(7, Stamp::of(5, 2), other);
  change_value(words, Stamp::of(5, 2));
  EXPECT_EQ(words, other);
}

TEST_P(Value, stays_damaged_when_it_is_changed) {
  words.back() ^= 1;
  change_value(words, Stamp::of(5, 2));
  EXPECT_EQ(is_value(7, words), words.size() == kMinWords);  // which has nothing but the stamp
}

INSTANTIATE_TEST_SUITE_P(Words, Value, ::testing::Values(kMinWords, 3, 13));

}  // namespace
}  // namespace key_value
