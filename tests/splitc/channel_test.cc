// put_channel, multicast_channel and reduce_channel.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace {

using ::test::left;
using ::test::right;

// This process's part of memory that all have at the same place.
template <class T>
T* own(spread_ptr<T> all) {
  return tolocal(global_ptr<T>(my_proc(), all.offset()));
}

TEST(PutChannel, shifts_an_edge_around_the_ring) {
  constexpr std::size_t kSize = 1000;
  const auto ghosts = all_spread_malloc<double>(kSize * procs());
  std::vector<double> edge(kSize);
  int told = 0;
  put_channel<double> halo(global_ptr<double>(right(), ghosts.offset()), edge, [&] { ++told; });
  EXPECT_TRUE(halo.sends());
  EXPECT_EQ(halo.senders(), 1u);
  for (int step = 1; step <= 20; ++step) {
    std::iota(edge.begin(), edge.end(), my_proc() * 1e6 + step);
    halo.put();
    halo.wait();
    EXPECT_EQ(told, step);
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSERT_EQ(own(ghosts)[i], left() * 1e6 + step + static_cast<double>(i));
    }
    halo.wait_reusable();
    halo.ready();
    barrier();
  }
  barrier();
  all_spread_free(ghosts);
}

TEST(PutChannel, takes_a_column_and_makes_it_a_row) {
  constexpr std::uint32_t kRows = 37;
  constexpr std::uint32_t kColumns = 11;
  const auto room = all_spread_malloc<float>(kRows * procs());
  std::vector<float> matrix(kRows * kColumns);
  std::iota(matrix.begin(), matrix.end(), 1000.0f * static_cast<float>(my_proc()));
  put_channel<float> column(global_ptr<float>(right(), room.offset()), {.run = kRows}, &matrix[3],
                            {.run = 1, .rows = kRows, .row_stride = kColumns});
  column.put();
  column.wait();
  for (std::uint32_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(own(room)[i], 1000.0f * static_cast<float>(left()) + 3.0f + 11.0f * i);
  }
  barrier();
  column.wait_reusable();
  barrier();
  all_spread_free(room);
}

TEST(PutChannel, alternates_between_two_sources) {
  const auto room = all_spread_malloc<int>(4 * procs());
  const std::vector<int> even(4, 2);
  const std::vector<int> odd(4, 1);
  put_channel<int> channel(global_ptr<int>(right(), room.offset()), even);
  channel.alternate(odd);
  for (int step = 0; step < 6; ++step) {
    channel.put();
    channel.wait();
    EXPECT_EQ(own(room)[3], step % 2 == 0 ? 2 : 1);
    channel.ready();
    barrier();
  }
  all_spread_free(room);
}

TEST(PutChannel, has_several_senders_or_none) {
  const auto room = all_spread_malloc<std::uint32_t>(procs() * procs());
  const std::uint32_t mine = my_proc() + 100;
  {
    put_channel<std::uint32_t> to_first(
        global_ptr<std::uint32_t>(0, room.offset() + my_proc() * sizeof mine), std::span(&mine, 1));
    EXPECT_EQ(to_first.senders(), my_proc() == 0 ? procs() : 0);
    to_first.put();
    to_first.wait();
    if (my_proc() == 0) {
      for (std::uint32_t p = 0; p < procs(); ++p) EXPECT_EQ(own(room)[p], p + 100);
    }
    barrier();
  }
  const put_channel<std::uint32_t> nothing(nullptr, {});
  EXPECT_FALSE(nothing.sends());
  EXPECT_EQ(nothing.senders(), 0u);
  EXPECT_TRUE(nothing.arrived());
  barrier();
  all_spread_free(room);
}

TEST(PutChannel, refuses_to_put_where_nothing_was_to_be_sent) {
  put_channel<int> nothing(nullptr, {});
  ::test::expect_error([&] { nothing.put(); },
                       {"put_channel::put: this process gave no target, so it sends nothing"});
  barrier();
}

// How the sentence of an error from that line ends.
std::string at(int line) {
  return " (at tests/splitc/channel_test.cc:" + std::to_string(line) + ")";
}

// A process that puts to itself is on one node with the receiver.
TEST(PutChannel, names_the_line_of_a_put_or_ready_out_of_turn) {
  if constexpr (!am::kChecked) GTEST_SKIP() << "release builds count it";
  const spread_array<int> room(procs());
  const int one = 1;
  put_channel<int> channel(room.on(my_proc()), std::span(&one, 1));
  const auto put = [&] { channel.put(); };
  const std::string at_put = at(__LINE__ - 1);
  const auto ready = [&] { channel.ready(); };
  const std::string at_ready = at(__LINE__ - 1);
  const auto ready_mark = [&] { channel.ready_mark(); };
  const std::string at_ready_mark = at(__LINE__ - 1);
  const auto ready_poll = [&] { channel.ready_poll(); };
  const std::string at_ready_poll = at(__LINE__ - 1);
  put();
  ::test::expect_error(put, {"put_channel::put: channel ", "wait for its ready()", at_put});
  channel.wait();
  ::test::expect_error(put, {"put_channel::put: channel ", "has not called ready()", at_put});
  ::test::expect_error(
      ready_poll, {"put_channel::ready_poll: channel ", "ready_mark() comes first", at_ready_poll});
  ready();
  ::test::expect_error(ready, {"put_channel::ready: channel ", "is ready already", at_ready});
  ::test::expect_error(ready_mark,
                       {"put_channel::ready_mark: channel ", "is ready already", at_ready_mark});
  barrier();
}

TEST(ReduceChannel, names_the_line_of_a_put_out_of_turn) {
  if constexpr (!am::kChecked) GTEST_SKIP() << "release builds count it";
  const int one = 1;
  std::vector<int> sum(1);
  reduce_channel<int> channel(std::span(&one, 1), sum);
  const auto put = [&] { channel.put(); };
  const std::string at_put = at(__LINE__ - 1);
  put();
  if (my_proc() == 0) {  // the root, which is on one node with itself
    ::test::expect_error(put, {"reduce_channel::put: channel ", "wait for its ready()", at_put});
  }
  channel.wait();
  barrier();
}

// While others still set theirs up.
// In any build: the receiver knows its blocks.
TEST(PutChannel, refuses_a_target_that_is_smaller_than_what_is_put) {
  auto* const behind = local_malloc<char>(4096);
  auto* const ghost = local_malloc<char>(64);
  const auto ghosts = all_gather(toglobal(ghost));
  const std::vector<char> edge(200);
  ::test::expect_error(
      [&] { put_channel<char> channel(ghosts[right()], edge); },
      {"put_channel: 200 bytes at offset", " of process " + std::to_string(right()),
       "run over the end of the block of 64 bytes", "channel_test.cc"});
  barrier();
  put_channel<char> channel(ghosts[right()], std::span(edge).first(64));
  channel.put();
  channel.wait();
  barrier();
  local_free(ghost);
  local_free(behind);
}

TEST(PutChannel, may_be_closed_as_soon_as_it_is_made) {
  spread_array<int> room(procs());
  const int one = 1;
  std::vector<int> sums(1);
  for (int i = 0; i < 100; ++i) {
    put_channel<int> channel(room.on(right()), std::span(&one, 1));
    reduce_channel<int> sum(std::span(&one, 1), sums);
  }
}

TEST(MulticastChannel, brings_the_roots_data_to_all) {
  constexpr std::size_t kSize = 5000;
  int* const room = local_malloc<int>(kSize);
  const std::span mine(room, kSize);
  for (std::uint32_t root = 0; root < procs(); ++root) {
    multicast_channel<int> channel(mine, root);
    for (int step = 1; step <= 3; ++step) {
      if (my_proc() == root) {
        std::iota(mine.begin(), mine.end(), step);
        channel.put();
        wait_until([&] { return channel.reusable(); });
      }
      channel.wait();
      for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(mine[i], step + static_cast<int>(i));
      channel.ready();
      barrier();
    }
  }
  local_free(room);
}

TEST(ReduceChannel, adds_what_all_have) {
  constexpr std::size_t kSize = 300;
  std::vector<double> mine(kSize);
  std::vector<double> result(kSize);
  const std::uint32_t root = procs() - 1;
  reduce_channel<double> sum(mine, result, root);
  for (int step = 1; step <= 4; ++step) {
    for (std::size_t i = 0; i < kSize; ++i) {
      mine[i] = 1.0 / (my_proc() + 1 + step + static_cast<double>(i));
    }
    sum.put();
    sum.wait();
    if (my_proc() == root) {
      for (std::size_t i = 0; i < kSize; ++i) {
        double expected = 1.0 / (1 + step + static_cast<double>(i));
        for (std::uint32_t p = 1; p < procs(); ++p) {
          expected += 1.0 / (p + 1 + step + static_cast<double>(i));
        }
        ASSERT_EQ(result[i], expected);
      }
    }
    wait_until([&] { return sum.reusable(); });
    sum.ready();
    barrier();
  }
}

}  // namespace
}  // namespace splitc
