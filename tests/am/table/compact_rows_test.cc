#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "am/table/node_rows.h"
#include "tests/support/seed.h"

namespace {

using am::CompactRows;
using Bytes = std::vector<std::byte>;

// Rows that differ in the bytes `columns` and nowhere else.
Bytes some_rows(std::mt19937_64& random, std::size_t rows, std::size_t bytes,
                const std::set<std::size_t>& columns) {
  Bytes first(bytes);
  for (std::byte& one : first) one = static_cast<std::byte>(random());
  Bytes all;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < bytes; ++i) {
      // The first two differ, whatever chance says.
      const bool other = columns.contains(i) && row != 0;
      const auto drawn = row == 1 ? std::byte{1} : static_cast<std::byte>(random());
      all.push_back(other ? first[i] ^ drawn : first[i]);
    }
  }
  return all;
}

TEST(CompactRows, gives_back_every_row_and_stores_what_differs) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 200; ++round) {
    const std::size_t rows = 2 + random() % 50;
    const std::size_t bytes = 1 + random() % 60;
    std::set<std::size_t> columns;
    for (std::size_t i = random() % 20; i != 0; --i) columns.insert(random() % bytes);
    const Bytes all = some_rows(random, rows, bytes, columns);
    const Bytes image = CompactRows::pack(all, bytes);
    EXPECT_LE(image.size(), CompactRows::most_bytes(rows, bytes));
    const CompactRows packed(image);
    ASSERT_EQ(packed.rows(), rows);
    ASSERT_EQ(packed.row_bytes(), bytes);
    EXPECT_EQ(packed.stored_bytes(), columns.size());
    for (std::size_t row = 0; row < rows; ++row) {
      Bytes read(bytes);
      packed.read(row, read);
      ASSERT_TRUE(std::equal(read.begin(), read.end(), all.begin() + row * bytes));
    }
  }
}

TEST(CompactRows, of_one_row_stores_it_once) {
  const Bytes row(17, std::byte{5});
  const Bytes image = CompactRows::pack(row, row.size());
  const CompactRows packed(image);
  EXPECT_EQ(packed.stored_bytes(), 0u);
  Bytes read(row.size());
  packed.read(0, read);
  EXPECT_EQ(read, row);
}

TEST(CompactRows, of_none_is_empty) {
  const Bytes image = CompactRows::pack({}, 8);
  EXPECT_EQ(CompactRows(image).rows(), 0u);
}

}  // namespace
