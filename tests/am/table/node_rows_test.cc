#include "am/table/node_rows.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <span>
#include <utility>

#include "tests/support/seed.h"

namespace {

using am::NodeRows;
using Address = shmem::Region::Address;

constexpr std::size_t kRows = 500;

std::uint64_t value(std::size_t row) { return test::seed() * 1'000'003 + row * row; }

NodeRows filled(std::size_t rows = kRows) {
  NodeRows made(rows, sizeof(std::uint64_t));
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t mine = value(row);
    made.set(row, std::as_bytes(std::span(&mine, 1)));
  }
  return made;
}

bool is_right(const NodeRows& rows) {
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    std::uint64_t read = 0;
    rows.read(row, std::as_writable_bytes(std::span(&read, 1)));
    if (read != value(row)) return false;
  }
  return true;
}

TEST(NodeRows, can_be_read_before_and_after_they_are_settled) {
  NodeRows rows = filled();
  EXPECT_TRUE(is_right(rows));
  rows.settle({});
  EXPECT_TRUE(is_right(rows));
  EXPECT_FALSE(rows.shared());
  const NodeRows moved = std::move(rows);
  EXPECT_TRUE(is_right(moved));
}

TEST(NodeRows, makes_no_region_for_few) {
  NodeRows rows = filled();
  EXPECT_EQ(rows.offer().bytes, 0u);
}

// Another process writes and reads them where this one has made room, and this one does as it
// likes.
TEST(NodeRows, are_in_the_memory_of_the_process_that_has_offered_it) {
  NodeRows mine = filled();
  const Address offer = mine.offer(0);
  ASSERT_NE(offer.bytes, 0u);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    NodeRows theirs = filled();
    theirs.settle(offer);
    _exit(theirs.shared() && is_right(theirs) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  mine.settle(offer);
  EXPECT_TRUE(mine.shared());
  EXPECT_TRUE(is_right(mine));
}

TEST(NodeRows, are_this_process_s_own_if_the_other_has_ended) {
  Address offer{};
  {
    NodeRows theirs = filled();
    offer = theirs.offer(0);
  }
  NodeRows mine = filled();
  mine.settle(offer);
  EXPECT_FALSE(mine.shared());
  EXPECT_TRUE(is_right(mine));
}

TEST(NodeRows, are_this_process_s_own_if_the_memory_is_too_small) {
  NodeRows theirs = filled(2);
  const Address offer = theirs.offer(0);
  NodeRows mine = filled();
  mine.settle(offer);
  EXPECT_FALSE(mine.shared());
  EXPECT_TRUE(is_right(mine));
}

}  // namespace
