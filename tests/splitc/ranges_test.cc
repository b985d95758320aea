// Ranges over arrays, each beside a serial one of the same elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"

namespace {

using namespace splitc;

using Iterator = spread_array<int>::iterator;
using Iterator2d = spread_array_2d<double>::iterator;
static_assert(std::random_access_iterator<Iterator> && std::random_access_iterator<Iterator2d>);
static_assert(std::sortable<Iterator> && std::indirectly_writable<Iterator, int>);
static_assert(std::ranges::random_access_range<const spread_array<int>&>);
static_assert(std::same_as<std::iter_reference_t<Iterator>, global_ref<int>>);

// Loops over own elements take a program's array, too.
struct Field : spread_array<int> {
  using spread_array<int>::spread_array;
};
static_assert(spread<Field> && spread<spread_array_2d<double>> && !spread<std::vector<int>>);

const layout kLayouts[] = {cyclic, blocked, block_cyclic(3)};

// Distinct values in no order.
int value_of(std::size_t i) { return static_cast<int>((i * 37 + 11) % 101); }

std::vector<int> serial(std::size_t n) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_of(i);
  return values;
}

spread_array<int> filled(std::size_t n, layout how) {
  spread_array<int> a(n, how);
  for_each_mine(a, [](std::size_t i, int& x) { x = value_of(i); });
  barrier();
  return a;
}

TEST(Ranges, of_all_elements_give_them_in_order) {
  for (const layout how : kLayouts) {
    for (const std::size_t n : {0, 1, 7, 29}) {
      const spread_array<int> a = filled(n, how);
      std::vector<int> copied;
      std::ranges::copy(a, std::back_inserter(copied));
      ASSERT_EQ(copied, serial(n));
      std::vector<int> backwards;
      for (auto it = a.end(); it != a.begin();) backwards.push_back(*--it);
      std::ranges::reverse(backwards);
      ASSERT_EQ(backwards, serial(n));
      barrier();
    }
  }
}

TEST(Ranges, iterators_move_as_indices_do) {
  for (const layout how : kLayouts) {
    const spread_array<int> a = filled(20, how);
    for (std::ptrdiff_t from = 0; from < 20; ++from) {
      for (std::ptrdiff_t to = 0; to < 20; ++to) {
        const Iterator at = a.begin() + from;
        ASSERT_EQ((at + (to - from)).pointer_to(), a.pointer(static_cast<std::size_t>(to)));
        ASSERT_EQ(&at[to - from], a.pointer(static_cast<std::size_t>(to)));
        ASSERT_EQ((a.begin() + to) - at, to - from);
        ASSERT_EQ((a.begin() + to) < at, to < from);
      }
    }
    barrier();
  }
}

// By one process, of all memory.
TEST(Ranges, algorithms_read_and_write_through_references) {
  for (const layout how : kLayouts) {
    spread_array<int> a = filled(41, how);
    on_one([&] {
      std::vector<int> b = serial(41);
      EXPECT_EQ(std::ranges::find(a, b[17]) - a.begin(), 17);
      EXPECT_EQ(std::ranges::max_element(a) - a.begin(), std::ranges::max_element(b) - b.begin());
      EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0), std::accumulate(b.begin(), b.end(), 0));
      EXPECT_EQ(std::ranges::count_if(a, [](int x) { return x % 2 == 0; }),
                std::ranges::count_if(b, [](int x) { return x % 2 == 0; }));
      std::ranges::reverse(a);
      std::ranges::reverse(b);
      EXPECT_TRUE(std::ranges::equal(a, b));
      std::ranges::sort(a);
      std::ranges::sort(b);
      EXPECT_TRUE(std::ranges::equal(a, b));
      EXPECT_EQ(*std::ranges::lower_bound(a, 50), *std::ranges::lower_bound(b, 50));
      std::ranges::fill(a.begin() + 5, a.begin() + 9, -1);
      std::fill(b.begin() + 5, b.begin() + 9, -1);
      std::sort(a.begin(), a.end(), std::greater());
      std::sort(b.begin(), b.end(), std::greater());
      EXPECT_TRUE(std::ranges::equal(a, b));
      for (auto&& x : a) x = x + 1;
      for (int& x : b) ++x;
      EXPECT_TRUE(std::ranges::equal(a, b));
    });
    barrier();
  }
}

TEST(Ranges, of_two_dimensions_go_row_by_row) {
  const layout layouts[] = {cyclic, blocked, block_cyclic(2)};
  for (const layout by_row : layouts) {
    for (const layout by_column : layouts) {
      spread_array_2d<double> a(5, 7, by_row, by_column);
      for_each_mine(
          a, [](std::size_t i, std::size_t j, double& x) { x = static_cast<double>(10 * i + j); });
      barrier();
      std::size_t e = 0;
      for (const double x : a) {
        ASSERT_EQ(x, static_cast<double>(10 * (e / 7) + e % 7));
        ++e;
      }
      ASSERT_EQ(e, 35u);
      ASSERT_EQ(a.end() - a.begin(), 35);
      barrier();
    }
  }
}

TEST(Ranges, at_the_end_refuse_to_be_followed) {
  const spread_array<int> a(3);
  test::expect_error([&] { *a.end() = 1; }, {"the pointer is null"});
}

TEST(MyElements, pair_the_own_indices_with_their_elements) {
  for (const layout how : kLayouts) {
    const spread_array<int> a = filled(23, how);
    std::size_t count = 0;
    for (auto [i, x] : a.my_elements()) {
      ASSERT_EQ(a.owner(i), my_proc());
      ASSERT_EQ(&x, tolocal(a.pointer(i)));
      ASSERT_EQ(x, value_of(i));
      x = -x;
      ++count;
    }
    ASSERT_EQ(count, a.my_elements().size());
    ASSERT_EQ(count, a.mine().size());
    barrier();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(int(a[i]), -value_of(i));
    barrier();
  }
}

TEST(ForEachMine, visits_every_element_once_in_its_process) {
  for (const layout how : {cyclic, blocked, block_cyclic(1), block_cyclic(4), block_cyclic(50)}) {
    for (const std::size_t n : {0, 1, 6, 8, 30, 31}) {
      spread_array<int> a(n, how);
      std::size_t last = 0;
      for_each_mine(a, [&](std::size_t i, int& x) {
        ASSERT_EQ(&x, tolocal(a.pointer(i)));
        ASSERT_TRUE(last <= i);
        last = i;
        ++x;
      });
      barrier();
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(int(a[i]), 1);
      barrier();
    }
  }
}

TEST(ForEachMine, of_two_dimensions_visits_every_element_once) {
  const layout layouts[] = {cyclic, blocked, block_cyclic(3)};
  for (const auto& [rows, columns] : {std::pair(1, 9), std::pair(6, 3), std::pair(7, 8)}) {
    for (const layout by_row : layouts) {
      for (const layout by_column : layouts) {
        spread_array_2d<int> a(rows, columns, by_row, by_column);
        for_each_mine(a, [&](std::size_t i, std::size_t j, int& x) {
          ASSERT_EQ(&x, tolocal(a.pointer(i, j)));
          ++x;
        });
        barrier();
        ASSERT_TRUE(std::ranges::all_of(a, [](int x) { return x == 1; }));
        barrier();
      }
    }
  }
  for_each_mine(spread_array_2d<int>(0, 4), [](auto, auto, int&) { FAIL(); });
  for_each_mine(spread_array_2d<int>(4, 0), [](auto, auto, int&) { FAIL(); });
}

TEST(ForEachMine, of_two_arrays_gives_the_elements_of_one_index) {
  const spread_array<int> x = filled(30, block_cyclic(4));
  spread_array<long> y(30, block_cyclic(4));
  for_each_mine(y, x, [](std::size_t i, long& to, int& from) { to = 2L * from + long(i); });
  barrier();
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(long(y[i]), 2L * value_of(i) + long(i));
  test::expect_error(
      [&] { for_each_mine(x, spread_array<int>(30, block_cyclic(5)), [](auto, int&, int&) {}); },
      {"for_each_mine: the arrays are not laid out alike",
       "30 elements in blocks of 4, the other 30 elements in blocks of 5", "make both"});
  const spread_array_2d<int> a(4, 6), b(6, 4);
  test::expect_error([&] { for_each_mine(a, b, [](auto, auto, int&, int&) {}); },
                     {"4 by 6 elements in tiles of 1 by 1", "6 by 4"});
  barrier();
}

TEST(ReduceElements, gives_what_a_serial_loop_does) {
  for (const layout how : kLayouts) {
    for (const std::size_t n : {1, 2, 40, 101}) {
      const spread_array<int> a = filled(n, how);
      const std::vector<int> b = serial(n);
      ASSERT_EQ(all_sum(a), std::accumulate(b.begin(), b.end(), 0));
      ASSERT_EQ(all_min(a), std::ranges::min(b));
      ASSERT_EQ(all_max(a), std::ranges::max(b));
      ASSERT_EQ(all_max(a, [](int x) { return -x * 0.5; }), -0.5 * std::ranges::min(b));
      ASSERT_EQ(all_reduce_elements(a, 7, std::bit_xor()),
                std::accumulate(b.begin(), b.end(), 7, std::bit_xor()));
      barrier();
    }
  }
}

TEST(ReduceElements, takes_two_dimensions_without_what_pads_the_tiles) {
  for (const std::size_t columns : {6, 7}) {
    spread_array_2d<double> a(9, columns, blocked, block_cyclic(4));
    for (double& x : a.mine()) x = 1e9;  // of padding this stays
    for_each_mine(a, [](std::size_t i, std::size_t j, double& x) { x = double(i * 100 + j) + 1; });
    double sum = 0;
    for (std::size_t e = 0; e < 9 * columns; ++e)
      sum += double(e / columns * 100 + e % columns) + 1;
    EXPECT_EQ(all_sum(a), sum);
    EXPECT_EQ(all_min(a), 1);
    EXPECT_EQ(all_max(a), 800 + double(columns));
    EXPECT_TRUE(all_reduce_elements(a, true, std::logical_and(), [](double x) { return x < 1e9; }));
  }
}

TEST(ReduceElements, of_floating_point_numbers_has_the_same_bits_each_time) {
  spread_array<double> a(1000, block_cyclic(7));
  for_each_mine(a, [](std::size_t i, double& x) { x = 1.0 / double(i + 1); });
  const double first = all_sum(a);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all_sum(a), first);
  EXPECT_EQ(all_bcast(first), first);
  EXPECT_NEAR(first, 7.485470860550345, 1e-12);
}

TEST(ReduceElements, of_nothing_is_the_initial_value_or_an_error) {
  const spread_array<double> none(0);
  EXPECT_EQ(all_sum(none), 0);
  EXPECT_EQ(all_reduce_elements(none, 5.0, std::plus()), 5.0);
  test::expect_error([&] { all_min(none); }, {"all_min: the array has no elements", "size first"});
  test::expect_error([&] { all_max(spread_array_2d<int>(3, 0)); }, {"all_max: "});
}

}  // namespace
