// The atomics on words of every type, near and far, against a serial oracle.

#include "splitc/access/word_atomic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

template <class T>
class WordAtomic : public testing::Test {
 protected:
  // A value of any size, or the least or greatest.
  T any() {
    switch (random_() % 8) {
      case 0: return std::numeric_limits<T>::lowest();
      case 1: return std::numeric_limits<T>::max();
      default: return static_cast<T>(static_cast<std::int64_t>(random_() % 200) - 100);
    }
  }
  std::mt19937_64 random_{test::seed()};
};
using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                             std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(WordAtomic, Types);

// Integers wrap.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

TYPED_TEST(WordAtomic, each_does_what_it_says_and_leaves_its_neighbours_alone) {
  using T = TypeParam;
  spread_array<T> a(3 * procs(), block_cyclic(3));
  const global_ptr<T> p = &a[3 * ((my_proc() + 1) % procs()) + 1];
  barrier();
  *(p - 1) = T(5), *(p + 1) = T(6);
  T word = 0;
  const auto expect = [&](T before, T after) {
    EXPECT_EQ(before, word);
    word = after;
    EXPECT_EQ(static_cast<T>(*p), word);
  };
  for (int round = 0; round < 100; ++round) {
    const T x = this->any();
    switch (this->random_() % (std::is_integral_v<T> ? 8 : 4)) {
      case 0: expect(fetch_and_add(p, x), sum(word, x)); break;
      case 1: expect(fetch_and_min(p, x), std::min(word, x)); break;
      case 2: expect(fetch_and_max(p, x), std::max(word, x)); break;
      case 3: expect(exchange(p, x), x); break;
      default:
        if constexpr (std::is_integral_v<T>) {
          switch (round % 4) {
            case 0: expect(fetch_and_and(p, x), static_cast<T>(word & x)); break;
            case 1: expect(fetch_and_or(p, x), static_cast<T>(word | x)); break;
            case 2: expect(fetch_and_xor(p, x), static_cast<T>(word ^ x)); break;
            default: {
              const T guess = round % 8 == 3 ? word : x;
              const T after = guess == word ? T(1) : word;
              if (round % 3 == 0) {
                expect(cmp_and_swap(p, guess, T(1)), after);
              } else {
                T before = T(9);
                sync(start_cmp_and_swap(before, p, guess, T(1)));
                expect(before, after);
              }
            }
          }
        }
    }
  }
  EXPECT_EQ(static_cast<T>(*(p - 1)), T(5));
  EXPECT_EQ(static_cast<T>(*(p + 1)), T(6));
  barrier();
}

// In any order: each addition sees another sum, and together they give all of them.
TYPED_TEST(WordAtomic, started_additions_of_all_processes_are_all_made_once) {
  using T = TypeParam;
  constexpr std::uint32_t kAll = 120;  // sums that every type can hold
  const std::uint32_t mine = kAll / procs();
  const auto counter = all_spread_malloc<T>(procs());
  *counter.on(my_proc()) = T(0);
  barrier();
  const global_ptr<T> target = counter.on(procs() - 1);
  std::vector<T> seen(mine);
  for (T& before : seen) start_fetch_and_add(before, target, T(1));
  sync();
  std::vector<T> all(std::size_t{mine} * procs());
  all_gather(std::span(seen), std::span(all));
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<T>(i));
  EXPECT_EQ(static_cast<T>(*target), static_cast<T>(all.size()));
  barrier();
  all_spread_free(counter);
}

// Of all processes that want one of the places, one gets it.
TEST(CompareAndSwap, started_ones_of_all_processes_share_out_places) {
  constexpr std::uint32_t kPlaces = 40;
  spread_array<std::uint32_t> owners(kPlaces);
  for (std::uint32_t& owner : owners.mine()) owner = 0;
  barrier();
  std::vector<std::uint32_t> before(kPlaces);
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    start_cmp_and_swap(before[i], owners.pointer(i), 0U, my_proc() + 1);
  }
  sync();
  const auto mine = static_cast<std::uint32_t>(std::ranges::count(before, 0U));
  EXPECT_EQ(all_reduce(mine, std::plus()), kPlaces);
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    const std::uint32_t owner = owners[i];
    EXPECT_EQ(owner, before[i] == 0 ? my_proc() + 1 : before[i]) << "place " << i;
  }
  barrier();
}

TYPED_TEST(WordAtomic, the_least_and_the_greatest_of_all_remain) {
  using T = TypeParam;
  spread_array<T> ends(2 * procs(), block_cyclic(2));
  const global_ptr<T> least = &ends[0];
  on_one([&] { *least = T(127), *(least + 1) = T(0); });
  barrier();
  for (std::uint32_t i = 0; i < 50; ++i) {
    const T x = static_cast<T>(1 + (i * 7 + my_proc() * 13) % 120);
    start_fetch_and_min(least, x);
    start_fetch_and_max(least + 1, x);
  }
  sync();
  barrier();
  T expected_least = T(127), expected_greatest = T(0);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (std::uint32_t i = 0; i < 50; ++i) {
      const T x = static_cast<T>(1 + (i * 7 + proc * 13) % 120);
      expected_least = std::min(expected_least, x);
      expected_greatest = std::max(expected_greatest, x);
    }
  }
  EXPECT_EQ(static_cast<T>(*least), expected_least);
  EXPECT_EQ(static_cast<T>(*(least + 1)), expected_greatest);
  barrier();
}

TEST(WordAtomics, started_ones_of_bits_and_exchanges_are_complete_when_their_handles_are) {
  spread_array<std::uint16_t> a(procs());
  const global_ptr<std::uint16_t> p = &a[(my_proc() + 1) % procs()];
  barrier();
  std::uint16_t before = 1;
  sync(start_exchange(before, p, 0x0ff0));
  EXPECT_EQ(before, 0);
  sync(start_fetch_and_and(before, p, 0x00ff));
  EXPECT_EQ(before, 0x0ff0);
  sync(start_fetch_and_or(before, p, 0x000f));
  EXPECT_EQ(before, 0x00f0);
  sync(start_fetch_and_xor(before, p, 0xffff));
  EXPECT_EQ(before, 0x00ff);
  sync(start_fetch_and_xor(p, 0xffff));
  EXPECT_EQ(static_cast<std::uint16_t>(*p), 0x00ff);
  EXPECT_EQ(fetch_and_or(a[(my_proc() + 1) % procs()], 0x100), 0x00ff);
  barrier();
}

TEST(WordAtomics, refuse_null_and_misaligned_pointers) {
  test::expect_error([] { start_fetch_and_add(global_ptr<int>(), 1); }, {"start_fetch_and_add: "});
  test::expect_error([] { fetch_and_max(global_ptr<double>(), 1); }, {"fetch_and_max: "});
  const auto p = all_spread_malloc<std::uint64_t>(2 * procs());
  const global_ptr<std::uint32_t> odd(procs() - 1, p.on(procs() - 1).offset() + 2);
  test::expect_error([&] { fetch_and_and(odd, 1u); }, {"fetch_and_and: "});
  barrier();
  all_spread_free(p);
}

}  // namespace
