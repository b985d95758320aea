#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
#include "splitc/compat/reductions.h"
#include "splitc/splitc.h"
#include "tests/support/seed.h"

// Each result against a loop over everybody's values, which every process makes up for itself.

namespace {

using namespace splitc;

template <class T>
class Reduce : public testing::Test {
 protected:
  using Call = T (*)(T, am::Here);

  // One value for each process, the same list in all. Integers that are to be added or multiplied
  // are small, as the language forbids signed ones to overflow.
  std::vector<T> values(bool small) {
    std::vector<T> list(procs());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        list[i] = static_cast<T>(random_() % 2000) / T(7) - T(100);
      } else {
        list[i] = static_cast<T>(small ? random_() % 7 : random_());
      }
    }
    return list;
  }

  template <class Op>
  static T fold(const std::vector<T>& list, std::size_t count, Op op) {
    T result = list[0];
    for (std::size_t i = 1; i < count; ++i) result = static_cast<T>(op(result, list[i]));
    return result;
  }

  template <class Op>
  void expect_reduced(bool small, Call to_all, Call to_one, Op op) {
    for (int round = 0; round < 5; ++round) {
      const std::vector<T> list = values(small);
      const T mine = list[my_proc()];
      const T expected = fold(list, procs(), op);
      EXPECT_EQ(to_all(mine, {}), expected);
      EXPECT_EQ(to_one(mine, {}), my_proc() == 0 ? expected : mine);
    }
  }
  template <class Op>
  void expect_scanned(bool small, Call inclusive, Call exclusive, Op op, T neutral) {
    for (int round = 0; round < 5; ++round) {
      const std::vector<T> list = values(small);
      const T mine = list[my_proc()];
      EXPECT_EQ(inclusive(mine, {}), fold(list, my_proc() + 1, op));
      EXPECT_EQ(exclusive(mine, {}), my_proc() == 0 ? neutral : fold(list, my_proc(), op));
    }
  }

  std::mt19937_64 random_{test::seed()};
};

template <class T>
class ReduceBits : public Reduce<T> {};

using Arithmetic =
    testing::Types<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned,
                   long, unsigned long, long long, unsigned long long, float, double, long double>;
using Integers = testing::Types<bool, char, signed char, unsigned char, short, unsigned short, int,
                                unsigned, long, unsigned long, long long, unsigned long long>;
TYPED_TEST_SUITE(Reduce, Arithmetic);
TYPED_TEST_SUITE(ReduceBits, Integers);

TYPED_TEST(Reduce, add_is_that_of_a_loop) {
  using T = TypeParam;
  const auto op = [](T a, T b) { return a + b; };
  this->expect_reduced(true, &all_reduce_to_all_add<T>, &all_reduce_to_one_add<T>, op);
  this->expect_scanned(true, &all_scan_add<T>, &all_exscan_add<T>, op, T(0));
}

TYPED_TEST(Reduce, mul_is_that_of_a_loop) {
  using T = TypeParam;
  const auto op = [](T a, T b) { return a * b; };
  this->expect_reduced(true, &all_reduce_to_all_mul<T>, &all_reduce_to_one_mul<T>, op);
  this->expect_scanned(true, &all_scan_mul<T>, &all_exscan_mul<T>, op, T(1));
}

TYPED_TEST(Reduce, min_is_that_of_a_loop) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const auto op = [](T a, T b) { return std::min(a, b); };
  this->expect_reduced(false, &all_reduce_to_all_min<T>, &all_reduce_to_one_min<T>, op);
  this->expect_scanned(false, &all_scan_min<T>, &all_exscan_min<T>, op,
                       Limits::has_infinity ? Limits::infinity() : Limits::max());
}

TYPED_TEST(Reduce, max_is_that_of_a_loop) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const auto op = [](T a, T b) { return std::max(a, b); };
  this->expect_reduced(false, &all_reduce_to_all_max<T>, &all_reduce_to_one_max<T>, op);
  this->expect_scanned(
      false, &all_scan_max<T>, &all_exscan_max<T>, op,
      Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
}

TYPED_TEST(ReduceBits, and_or_xor_are_those_of_a_loop) {
  using T = TypeParam;
  const auto bit_and = [](T a, T b) { return a & b; };
  const auto bit_or = [](T a, T b) { return a | b; };
  const auto bit_xor = [](T a, T b) { return a ^ b; };
  this->expect_reduced(false, &all_reduce_to_all_and<T>, &all_reduce_to_one_and<T>, bit_and);
  this->expect_reduced(false, &all_reduce_to_all_or<T>, &all_reduce_to_one_or<T>, bit_or);
  this->expect_reduced(false, &all_reduce_to_all_xor<T>, &all_reduce_to_one_xor<T>, bit_xor);
  this->expect_scanned(false, &all_scan_and<T>, &all_exscan_and<T>, bit_and, static_cast<T>(~0));
  this->expect_scanned(false, &all_scan_or<T>, &all_exscan_or<T>, bit_or, T(0));
  this->expect_scanned(false, &all_scan_xor<T>, &all_exscan_xor<T>, bit_xor, T(0));
}

TEST(Reduction, gives_all_processes_the_same_bits_of_a_float) {
  std::mt19937_64 random(test::seed() + 17 * my_proc());
  for (int round = 0; round < 50; ++round) {
    const double mine = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 99));
    const double sum = all_reduce(mine, std::plus());
    for (const double other : all_gather(sum)) ASSERT_EQ(sum, other);
  }
}

TEST(Reduction, takes_any_function_and_type) {
  struct Extent {
    double low;
    double high;
  };
  const auto unite = [](const Extent& a, const Extent& b) {
    return Extent{std::min(a.low, b.low), std::max(a.high, b.high)};
  };
  const double x = my_proc();
  const Extent all = all_reduce(Extent{-x, x}, unite);
  EXPECT_EQ(all.low, -(procs() - 1.0));
  EXPECT_EQ(all.high, procs() - 1.0);
  const Extent one = all_reduce_to_one(Extent{-x, x}, unite);
  EXPECT_EQ(one.high, my_proc() == 0 ? procs() - 1.0 : x);
  EXPECT_EQ(all_scan(Extent{-x, x}, unite).high, x);
  EXPECT_EQ(all_exscan(Extent{-x, x}, unite, {7, 8}).high, my_proc() == 0 ? 8 : x - 1);
}

TEST(Reduction, keeps_the_order_of_a_function_that_does_not_commute) {
  struct Word {
    char letters[16];
    std::uint32_t length;
  };
  Word mine{{static_cast<char>('a' + my_proc())}, 1};
  const Word word = all_reduce(mine, [](Word a, const Word& b) {
    std::copy_n(b.letters, b.length, a.letters + a.length);
    a.length += b.length;
    return a;
  });
  EXPECT_EQ(std::string(word.letters, word.length), std::string("abcdefgh").substr(0, procs()));
}

}  // namespace
