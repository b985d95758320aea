#include "splitc/array/layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "splitc/array/spread_array_2d.h"

namespace {

using splitc::distribution;
using splitc::layout;
using splitc::tiling;

// Deals the indices out one by one.
void expect_as_dealt(std::size_t n, std::size_t block, std::uint32_t procs) {
  SCOPED_TRACE(testing::Message() << "n " << n << " block " << block << " procs " << procs);
  const distribution map(n, block, procs);
  std::vector<std::size_t> dealt(procs);
  for (std::size_t i = 0; i < n; ++i) {
    const auto owner = static_cast<std::uint32_t>(i / block % procs);
    ASSERT_EQ(map.owner(i), owner);
    ASSERT_EQ(map.local(i), dealt[owner]);
    ASSERT_EQ(map.global(owner, dealt[owner]), i);
    ++dealt[owner];
  }
  for (std::uint32_t proc = 0; proc < procs; ++proc) {
    ASSERT_EQ(map.size_on(proc), dealt[proc]);
    ASSERT_LE(dealt[proc], map.capacity());
  }
}

TEST(Distribution, places_every_index_as_dealing_one_by_one_does) {
  for (std::uint32_t procs : {1u, 2u, 3u, 5u, 8u, 13u}) {
    for (std::size_t n = 0; n <= 70; ++n) {
      for (std::size_t block : {1, 2, 3, 4, 7, 16, 100}) expect_as_dealt(n, block, procs);
    }
  }
}

TEST(Distribution, of_a_blocked_layout_gives_each_process_one_block) {
  for (std::uint32_t procs : {1u, 2u, 3u, 5u, 8u}) {
    for (std::size_t n = 0; n <= 50; ++n) {
      const distribution map(n, splitc::blocked.block(n, procs), procs);
      for (std::size_t i = 1; i < n; ++i) ASSERT_LE(map.owner(i - 1), map.owner(i));
      ASSERT_LE(map.capacity(), n / procs + 1);
      expect_as_dealt(n, map.block(), procs);
    }
  }
}

TEST(Layout, cyclic_is_blocks_of_one) {
  EXPECT_EQ(splitc::cyclic.block(100, 7), 1u);
  EXPECT_EQ(splitc::block_cyclic(5).block(100, 7), 5u);
  EXPECT_EQ(splitc::block_cyclic(0).block(100, 7), 1u);
  EXPECT_EQ(splitc::blocked.block(100, 7), 15u);
  EXPECT_EQ(splitc::blocked.block(0, 7), 1u);
}

TEST(Distribution, of_the_largest_sizes_there_are_does_not_wrap) {
  constexpr std::size_t kMost = ~std::size_t{0};
  EXPECT_EQ(distribution(kMost, 1, 2).capacity(), kMost / 2 + 1);
  EXPECT_EQ(distribution(kMost, splitc::blocked.block(kMost, 3), 3).capacity(), kMost / 3);
  EXPECT_EQ(distribution(10, kMost - 1, 4).capacity(), kMost - 1);
  EXPECT_EQ(distribution(kMost, std::size_t{1} << 63, 1).capacity(), kMost);  // 2 blocks: too many
  EXPECT_EQ(distribution(kMost, 1, 2).size_on(0), kMost / 2 + 1);
  EXPECT_EQ(distribution(kMost, 1, 2).owner(kMost - 1), 0u);
}

// Walks the tiles row by row and deals them out.
void expect_as_dealt(const tiling& map, std::uint32_t procs) {
  std::vector<std::size_t> dealt(procs);
  std::size_t number = 0;
  for (std::size_t ti = 0; ti < map.tile_rows(); ++ti) {
    for (std::size_t tj = 0; tj < map.tile_columns(); ++tj, ++number) {
      const auto owner = static_cast<std::uint32_t>(number % procs);
      ASSERT_EQ(map.owner(ti, tj), owner);
      ASSERT_EQ(map.slot(ti, tj), dealt[owner]);
      for (std::size_t a = 0; a < map.q() && ti * map.q() + a < map.rows(); ++a) {
        for (std::size_t b = 0; b < map.r() && tj * map.r() + b < map.columns(); ++b) {
          ASSERT_EQ(map.place(ti * map.q() + a, tj * map.r() + b),
                    dealt[owner] * map.q() * map.r() + a * map.r() + b);
        }
      }
      ASSERT_LT(dealt[owner]++, map.slots());
    }
  }
}

TEST(Tiling, places_every_tile_as_dealing_row_by_row_does) {
  const layout layouts[] = {splitc::cyclic, splitc::blocked, splitc::block_cyclic(2),
                            splitc::block_cyclic(5)};
  for (std::uint32_t procs : {1u, 2u, 3u, 5u, 6u, 8u}) {
    for (std::size_t rows : {0, 1, 4, 9, 17}) {
      for (std::size_t columns : {0, 1, 5, 12}) {
        for (layout by_row : layouts) {
          for (layout by_column : layouts) {
            expect_as_dealt(tiling(rows, columns, by_row, by_column, procs), procs);
          }
        }
      }
    }
  }
}

TEST(Tiling, blocked_both_ways_gives_each_process_one_tile_at_most) {
  for (std::uint32_t procs : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 12u}) {
    for (std::size_t rows : {1, 7, 12, 100}) {
      for (std::size_t columns : {1, 8, 30}) {
        EXPECT_LE(tiling(rows, columns, splitc::blocked, splitc::blocked, procs).slots(), 1u);
      }
    }
  }
}

TEST(Tiling, blocked_both_ways_is_as_square_as_can_be) {
  const tiling four(100, 100, splitc::blocked, splitc::blocked, 4);
  EXPECT_EQ(four.q(), 50u);
  EXPECT_EQ(four.r(), 50u);
  const tiling six(60, 60, splitc::blocked, splitc::blocked, 6);
  EXPECT_EQ(six.q(), 20u);
  EXPECT_EQ(six.r(), 30u);
}

}  // namespace
