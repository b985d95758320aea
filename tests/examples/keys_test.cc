// What the sorts and their rivals by MPI are made of, against the definitions and std::sort.

#include "examples/keys/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "examples/keys/digest.h"
#include "examples/keys/local_sort.h"
#include "examples/keys/splitters.h"

namespace examples::test {
namespace {

using Keys = std::vector<sort_key>;

Keys keys_of(const char* name, const sort_problem& problem, std::uint32_t proc) {
  const key_distribution* const distribution = key_distribution_named(name);
  EXPECT_NE(distribution, nullptr) << name;
  Keys keys(problem.size);
  make_keys(distribution, &problem, proc, keys.data());
  return keys;
}
// In which of as many equal ranges as there are processes.
std::uint64_t bucket_of(sort_key key, std::uint32_t procs) {
  return std::uint64_t{key} * procs >> 32;
}
std::set<std::uint64_t> buckets_of(const Keys& keys, std::uint32_t procs) {
  std::set<std::uint64_t> buckets;
  for (const sort_key key : keys) buckets.insert(bucket_of(key, procs));
  return buckets;
}

constexpr sort_problem kFour{4, 1000, 7};

TEST(KeyDistributions, depend_on_name_seed_and_process) {
  for (const key_distribution& one : key_distributions) {
    EXPECT_EQ(keys_of(one.name, kFour, 1), keys_of(one.name, kFour, 1));
  }
  EXPECT_NE(keys_of("uniform", kFour, 1), keys_of("uniform", kFour, 2));
  EXPECT_NE(keys_of("uniform", kFour, 1), keys_of("uniform", {4, 1000, 8}, 1));
  EXPECT_EQ(key_distribution_named("magic"), nullptr);
}

TEST(KeyDistributions, uniform_has_as_many_in_each_quarter) {
  std::array<int, 4> quarters{};
  for (const sort_key key : keys_of("uniform", kFour, 0)) ++quarters.at(key >> 30);
  for (const int count : quarters) EXPECT_NEAR(count, 250, 60);
}

TEST(KeyDistributions, gaussian_has_most_in_the_middle) {
  std::array<int, 4> quarters{};
  for (const sort_key key : keys_of("gaussian", kFour, 0)) ++quarters.at(key >> 30);
  EXPECT_GT(quarters[1] + quarters[2], 850);
  EXPECT_NEAR(quarters[1], quarters[2], 120);
}

TEST(KeyDistributions, zero_is_zero) { EXPECT_EQ(keys_of("zero", kFour, 3), Keys(1000, 0)); }

TEST(KeyDistributions, bucket_goes_through_all_buckets_in_order) {
  const Keys keys = keys_of("bucket", kFour, 2);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(bucket_of(keys[i], 4), i / 250);
}

TEST(KeyDistributions, group_has_those_half_of_all_processes_away) {
  using Set = std::set<std::uint64_t>;
  EXPECT_EQ(buckets_of(keys_of("group", kFour, 0), 4), (Set{2, 3}));
  EXPECT_EQ(buckets_of(keys_of("group", kFour, 1), 4), (Set{2, 3}));
  EXPECT_EQ(buckets_of(keys_of("group", kFour, 3), 4), (Set{0, 1}));
  EXPECT_EQ(buckets_of(keys_of("group", {1, 10, 1}, 0), 1), Set{0});
}

TEST(KeyDistributions, staggered_gives_each_process_a_bucket_of_its_own) {
  for (const std::uint32_t procs : {1u, 2u, 3u, 4u, 8u}) {
    std::set<std::uint64_t> all;
    for (std::uint32_t proc = 0; proc < procs; ++proc) {
      const auto buckets = buckets_of(keys_of("staggered", {procs, 50, 1}, proc), procs);
      EXPECT_EQ(buckets.size(), 1u);
      all.insert(buckets.begin(), buckets.end());
    }
    EXPECT_EQ(all.size(), procs);
  }
  EXPECT_EQ(*buckets_of(keys_of("staggered", kFour, 0), 4).begin(), 1u);
}

// Sorts by regular sampling, as many samples of each process as there are, and looks how many keys
// one then gets.
TEST(KeyDistributions, worst_gives_nearly_twice_as_many_to_one_of_regular_sampling) {
  Keys all, samples;
  for (std::uint32_t proc = 0; proc < 4; ++proc) {
    Keys keys = keys_of("worst", kFour, proc);
    std::ranges::sort(keys);
    for (std::size_t i = 249; i < keys.size(); i += 250) samples.push_back(keys[i]);
    all.insert(all.end(), keys.begin(), keys.end());
  }
  std::ranges::sort(samples);
  const sort_key first_splitter = samples[3];
  const auto got = std::ranges::count_if(all, [&](sort_key key) { return key <= first_splitter; });
  EXPECT_GT(got, 1700);
}

TEST(KeyDistributions, duplicates_are_logarithms_of_halves) {
  const sort_problem problem{4, 1024, 1};  // 4096 keys, whose logarithm is 12
  EXPECT_EQ(keys_of("duplicates", problem, 0), Keys(1024, 12));
  EXPECT_EQ(keys_of("duplicates", problem, 1), Keys(1024, 12));
  EXPECT_EQ(keys_of("duplicates", problem, 2), Keys(1024, 11));
  const Keys last = keys_of("duplicates", problem, 3);
  EXPECT_EQ(std::ranges::count(last, 10u), 512);
  EXPECT_EQ(std::ranges::count(last, 9u), 256);
  EXPECT_EQ(last.back(), 0u);
}

TEST(KeyDistributions, random_duplicates_are_few_and_in_rows) {
  const Keys keys = keys_of("random_duplicates", kFour, 1);
  int changes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_LT(keys[i], 32u);
    changes += i > 0 && keys[i] != keys[i - 1];
  }
  EXPECT_GT(changes, 5);
  EXPECT_LT(changes, 32);
}

TEST(LocalSort, gives_what_std_sort_gives) {
  for (const std::size_t size : {0, 1, 2, 1000}) {
    Keys keys = keys_of("uniform", {1, size, 3}, 0), spare(size), expected = keys;
    std::ranges::sort(expected);
    const sort_key* const sorted = sort_locally(keys.data(), spare.data(), size);
    EXPECT_EQ(Keys(sorted, sorted + size), expected);
  }
}

TEST(Splitters, find_the_part_that_a_search_finds) {
  std::mt19937_64 random(5);
  for (std::uint32_t count = 0; count < 20; ++count) {
    std::vector<tagged_key> splitters(count);
    for (tagged_key& one : splitters) one = random() % 50;
    std::ranges::sort(splitters);
    for (tagged_key key = 0; key < 52; ++key) {
      const auto expected = std::ranges::upper_bound(splitters, key) - splitters.begin();
      EXPECT_EQ(part_with(splitters.data(), count, key), expected);
    }
  }
}

TEST(Splitters, divide_equal_keys_evenly) {
  const std::uint64_t size = 10'000;
  const Keys keys(size, 42);
  std::vector<tagged_key> samples(number_of_samples(size)), splitters(3);
  take_samples(keys.data(), size, 0, samples.data());
  choose_splitters(samples.data(), samples.size(), 4, splitters.data());
  std::array<int, 4> parts{};
  for (std::uint64_t i = 0; i < size; ++i) {
    ++parts.at(part_with(splitters.data(), 3, tag_key(42, i)));
  }
  for (const int part : parts) EXPECT_NEAR(part, 2500, 150);
}

TEST(Digest, sees_the_order_that_the_hash_does_not) {
  const Keys keys{1, 2, 2, 3}, other{2, 1, 2, 3};
  EXPECT_EQ(multiset_hash(keys.data(), 4), multiset_hash(other.data(), 4));
  EXPECT_NE(multiset_hash(keys.data(), 4), multiset_hash(keys.data(), 3));
  EXPECT_NE(order_digest(keys.data(), 4, 0), order_digest(other.data(), 4, 0));
  EXPECT_EQ(order_digest(keys.data(), 4, 9),
            order_digest(keys.data(), 1, 9) + order_digest(keys.data() + 1, 3, 10));
}

}  // namespace
}  // namespace examples::test
