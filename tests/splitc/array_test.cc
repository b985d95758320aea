#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <vector>

#include "splitc/array/spread_array.h"
#include "splitc/splitc.h"
#include "splitc/world/heap.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

// Everybody fills what it owns; then all elements are read in every way there is.
void expect_consistent(const spread_array<std::uint64_t>& a) {
  const std::span<std::uint64_t> mine = a.mine();
  ASSERT_EQ(mine.size(), a.size_on(my_proc()));
  std::size_t l = 0;
  for (const std::size_t i : a.my_indices()) {
    ASSERT_EQ(a.owner(i), my_proc());
    ASSERT_EQ(a.local(i), l);
    ASSERT_EQ(a.global(my_proc(), l), i);
    ASSERT_EQ(mine[l], 0u);
    mine[l++] = i * i + 1;
  }
  ASSERT_EQ(l, mine.size());
  ASSERT_EQ(a.my_indices().size(), mine.size());
  barrier();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(static_cast<std::uint64_t>(a[i]), i * i + 1);
    ASSERT_EQ(static_cast<std::uint64_t>(*a.pointer(i)), i * i + 1);
    ASSERT_EQ(static_cast<std::uint64_t>(a.on(a.owner(i))[static_cast<std::ptrdiff_t>(a.local(i))]),
              i * i + 1);
  }
  std::size_t owned = 0;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) owned += a.size_on(proc);
  ASSERT_EQ(owned, a.size());
  barrier();
}

// Counted one by one.
TEST(Distribution, knows_how_many_of_those_below_an_index_a_process_owns) {
  for (const std::size_t n : {0u, 1u, 7u, 24u, 25u}) {
    for (const std::size_t block : {1u, 2u, 5u, 30u}) {
      const distribution all(n, block, 3);
      std::array<std::size_t, 3> owned{};
      for (std::size_t i = 0; i <= n; ++i) {
        for (std::uint32_t proc = 0; proc < 3; ++proc) {
          ASSERT_EQ(all.size_below(proc, i), owned[proc]) << n << ' ' << block << ' ' << i;
        }
        if (i < n) ++owned[all.owner(i)];
      }
    }
  }
}

TEST(SpreadArray, of_every_layout_and_size_holds_what_was_put) {
  const std::size_t most = test::times(1000, 64);
  for (const std::size_t n : {0, 1, 2, 3, 7, 8, 9, 64, 100, 1000}) {
    if (n > most) continue;
    for (const layout how : {cyclic, blocked, block_cyclic(2), block_cyclic(3), block_cyclic(16)}) {
      SCOPED_TRACE(testing::Message() << "n " << n << " block " << how.block(n, procs()));
      expect_consistent(spread_array<std::uint64_t>(n, how));
    }
  }
}

TEST(SpreadArray, of_blocks_gives_each_process_its_block) {
  const spread_array<int> a(procs(), 5);
  EXPECT_EQ(a.size(), 5u * procs());
  EXPECT_EQ(a.block(), 5u);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (std::uint32_t k = 0; k < 5; ++k) {
      EXPECT_EQ(a.pointer(proc * 5 + k), a.on(proc) + k);
    }
  }
}

TEST(SpreadArray, of_cyclic_layout_is_walked_by_a_spread_pointer) {
  spread_array<int> a(3 * procs() + 1);
  for (const std::size_t i : a.my_indices()) a[i] = static_cast<int>(i);
  barrier();
  spread_ptr<int> p = a.begin_spread();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(static_cast<int>(*p++), static_cast<int>(i));
  barrier();
}

TEST(SpreadArray, is_zero_where_memory_was_used_before) {
  for (int round = 0; round < 3; ++round) {
    spread_array<std::uint64_t> a(1000);
    for (std::uint64_t& x : a.mine()) {
      ASSERT_EQ(x, 0u);
      x = ~std::uint64_t{0};
    }
  }
}

TEST(SpreadArray, moves_with_its_memory) {
  const std::uint64_t before = world().heap().used();
  {
    spread_array<int> a(procs());
    a[my_proc()] = 7;
    spread_array<int> b = std::move(a);
    EXPECT_EQ(static_cast<int>(b[my_proc()]), 7);
    spread_array<int> c(10);
    c = std::move(b);
    EXPECT_EQ(c.size(), procs());
    EXPECT_EQ(static_cast<int>(c[my_proc()]), 7);
    std::vector<spread_array<int>> many;
    for (std::size_t i = 1; i < 5; ++i) many.emplace_back(i);
    EXPECT_EQ(many[3].size(), 4u);
  }
  EXPECT_EQ(world().heap().used(), before);
}

TEST(SpreadArray, has_no_elements_after_a_move) {
  spread_array<int> a(10);
  spread_array_2d<int> b(4, 5);
  const spread_array<int> holds_a = std::move(a);
  const spread_array_2d<int> holds_b = std::move(b);
  EXPECT_EQ(a.size(), 0u);
  EXPECT_TRUE(a.mine().empty());
  EXPECT_EQ(a.begin(), a.end());
  EXPECT_EQ(spread_ptr<int>(a), nullptr);
  test::expect_error([&] { a[3] = 7; }, {"spread_array: there is no index 3: it has no elements"});
  EXPECT_EQ(b.begin(), b.end());
  test::expect_error([&] { b(1, 1) = 7; }, {"spread_array_2d, row: there is no index 1"});
  spread_array_2d<int> back(1, 1);
  back = std::move(b);
  EXPECT_EQ(back.rows(), 0u);
  EXPECT_EQ(b.rows(), 0u);
  barrier();
}

TEST(SpreadArray, keeps_its_memory_while_an_exception_is_on_its_way) {
  const std::uint64_t before = world().heap().used();
  const std::string said = test::error_of([] {
    spread_array<int> a(procs());
    throw Error("on its way");
  });
  EXPECT_EQ(said, "on its way");
  EXPECT_GT(world().heap().used(), before);
  barrier();
}

TEST(SpreadArray, refuses_indices_beyond_its_end) {
  const spread_array<int> a(10);
  test::expect_error([&] { a[10] = 1; }, {"spread_array: there is no index 10", "0 to 9"});
  test::expect_error([&] { a.pointer(~std::size_t{0}); }, {"there is no index -1"});
  test::expect_error([&] { a[~0u] = 1; },
                     {"there is no index 4294967295 (an unsigned -1): it has"});
  if (am::kChecked) {
    test::expect_error([&] { a.on(procs()); }, {"there is no process " + std::to_string(procs())});
  }
  const spread_array<int> none(0);
  test::expect_error([&] { none[0] = 1; }, {"no index 0", "it has no elements"});
}

// --- Two dimensions

double value_at(std::size_t i, std::size_t j) {
  return static_cast<double>(i) * 1000 + static_cast<double>(j);
}

void expect_consistent(const spread_array_2d<double>& a) {
  std::size_t elements = 0;
  for (const auto [ti, tj] : a.my_tiles()) {
    ASSERT_EQ(a.tile_owner(ti, tj), my_proc());
    const tile_view<double> tile = a.tile(ti, tj);
    ASSERT_EQ(tile.data(), tolocal(a.tile_pointer(ti, tj)));
    elements += tile.rows() * tile.columns();
    for (std::size_t r = 0; r < tile.rows(); ++r) {
      ASSERT_EQ(tile.row(r).size(), tile.columns());
      for (std::size_t c = 0; c < tile.columns(); ++c) {
        ASSERT_EQ(tile(r, c), 0.0);
        tile(r, c) = value_at(ti * a.q() + r, tj * a.r() + c);
        ASSERT_EQ(&tile.row(r)[c], &tile(r, c));
        ASSERT_EQ(&tile[r][c], &tile(r, c));
      }
    }
  }
  ASSERT_EQ(all_reduce(elements, std::plus()), a.rows() * a.columns());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) {
      ASSERT_EQ(static_cast<double>(a(i, j)), value_at(i, j));
      ASSERT_EQ(a.owner(i, j), a.pointer(i, j).proc());
      const auto inside = static_cast<std::ptrdiff_t>(i % a.q() * a.r() + j % a.r());
      ASSERT_EQ(a.tile_pointer(i / a.q(), j / a.r()) + inside, a.pointer(i, j));
    }
  }
  barrier();
}

TEST(SpreadArray2d, of_every_layout_holds_what_was_put) {
  const layout layouts[] = {cyclic, blocked, block_cyclic(4)};
  const std::size_t most = test::times(12 * 16, 5 * 7);
  for (const std::size_t rows : {1, 5, 12}) {
    for (const std::size_t columns : {1, 7, 16}) {
      if (rows * columns > most) continue;
      for (const layout by_row : layouts) {
        for (const layout by_column : layouts) {
          expect_consistent(spread_array_2d<double>(rows, columns, by_row, by_column));
        }
      }
    }
  }
}

TEST(SpreadArray2d, of_tiles_deals_them_row_by_row) {
  const auto x = spread_array_2d<int>::of_tiles(2, procs(), 3, 4);
  EXPECT_EQ(x.rows(), 6u);
  EXPECT_EQ(x.columns(), 4u * procs());
  for (std::uint32_t j = 0; j < procs(); ++j) {
    EXPECT_EQ(x.tile_owner(0, j), j);
    EXPECT_EQ(x.tile_owner(1, j), j);
    EXPECT_EQ(x.tile_pointer(0, j), x.on(j));
    EXPECT_EQ(x.tile_pointer(1, j), x.on(j) + 12);
  }
}

TEST(SpreadArray2d, may_be_empty_and_moves) {
  spread_array_2d<int> none(0, 5);
  EXPECT_EQ(none.rows(), 0u);
  spread_array_2d<int> a(3, 3);
  a(2, 2) = 9;
  const spread_array_2d<int> b = std::move(a);
  EXPECT_EQ(static_cast<int>(b(2, 2)), 9);
  barrier();
}

TEST(SpreadArray2d, refuses_elements_and_tiles_that_are_not_there_or_not_mine) {
  const auto x = spread_array_2d<int>::of_tiles(2, procs(), 3, 4);
  test::expect_error([&] { x(6, 0) = 1; }, {"spread_array_2d, row: there is no index 6"});
  test::expect_error([&] { x(0, 4 * procs()) = 1; }, {"spread_array_2d, column: "});
  test::expect_error([&] { x.tile(2, 0); }, {"row of tiles: there is no index 2"});
  test::expect_error([&] { x.tile_pointer(0, procs()); }, {"column of tiles: "});
  if (am::kChecked) {
    test::expect_error([&] { x.tile(0, my_proc())(3, 0) = 1; },
                       {"tile_view, row: there is no index 3"});
  }
  if (procs() == 1) return;
  test::expect_error(
      [&] { x.tile(0, test::right()); },
      {"tile (0, " + std::to_string(test::right()) + ") is of process", "tile_pointer()"});
}

// --- Ranges of own indices

TEST(MyRange, gives_each_index_to_one_process_in_order) {
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<std::size_t> mine;
    for (const std::size_t i : my_1d(n)) mine.push_back(i);
    std::vector<std::size_t> expected;
    for (std::size_t i = my_proc(); i < n; i += procs()) expected.push_back(i);
    ASSERT_EQ(mine, expected);
    ASSERT_EQ(my_1d(n).size(), expected.size());
  }
}

TEST(SpreadArray, is_a_spread_pointer_if_it_is_cyclic) {
  const spread_array<int> a(2 * procs() + 1);
  for (const std::size_t i : a.my_indices()) *(a + i) = static_cast<int>(10 * i);
  barrier();
  const spread_ptr<int> p = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(global_ptr<int>(a + i), a.pointer(i));
    EXPECT_EQ(int(p[i]), static_cast<int>(10 * i));
    EXPECT_EQ(toproc(a[i]), a.owner(i));
  }
  EXPECT_EQ(tolocal(a[my_proc()]), a.mine().data());
  barrier();
  const spread_array<int> blocks(2 * procs(), 2);
  test::expect_error([&] { blocks + 1; }, {"this array has blocks of 2 elements", "write &a[i]"});
}

TEST(MyRange, of_two_dimensions_numbers_row_by_row) {
  for (std::size_t n = 0; n < 9; ++n) {
    for (std::size_t m = 0; m < 9; ++m) {
      std::vector<my_2d::index> expected;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
          if ((i * m + j) % procs() == my_proc()) expected.push_back({i, j});
        }
      }
      std::vector<my_2d::index> mine;
      for (const auto index : my_2d(n, m)) mine.push_back(index);
      ASSERT_EQ(mine, expected);
      ASSERT_EQ(my_2d(n, m).size(), expected.size());
    }
  }
}

TEST(MyRange, runs_bodies_where_they_belong) {
  int runs = 0;
  on_one([&] { ++runs; });
  EXPECT_EQ(runs, my_proc() == 0 ? 1 : 0);
  on_proc(procs() - 1, [&] { runs += 2; });
  EXPECT_EQ(runs / 2, my_proc() == procs() - 1 ? 1 : 0);
}

}  // namespace
