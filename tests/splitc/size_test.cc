#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "splitc/world/heap.h"
#include "tests/splitc/error_of.h"

// Sizes whose product is beyond 64 bits: each call says so, with the numbers, and nothing is
// allocated or moved.

namespace {

using namespace splitc;

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHalf = std::size_t{1} << 32;  // its square is 0 in 64 bits
const std::string kBeyond = "are more than any memory holds; check how the numbers were computed";

class Size : public testing::Test {
 protected:
  void SetUp() override { used_ = world().heap().used(); }
  void TearDown() override { EXPECT_EQ(world().heap().used(), used_); }

 private:
  std::uint64_t used_ = 0;
};

TEST_F(Size, of_spread_arrays_in_blocks) {
  test::expect_error([] { spread_array<char>(kHalf, kHalf); },
                     {"spread_array: 4294967296 blocks of 4294967296 elements " + kBeyond});
  test::expect_error([] { spread_array<char>(kMost, std::size_t{2}); },
                     {"spread_array: 18446744073709551615 blocks of 2 elements"});
  // A block of this size, rounded up, would have been one of no bytes.
  test::expect_error([] { spread_array<char>(std::size_t{10}, block_cyclic(kMost - 1)); },
                     {"spread_array: no room for 18446744073709551614 bytes"});
}

TEST_F(Size, of_spread_arrays_of_large_elements) {
  using Kilobyte = std::array<char, 1024>;
  const std::size_t part = kMost / procs() + (kMost % procs() != 0 ? 1 : 0);
  test::expect_error(
      [] { spread_array<Kilobyte>{kMost}; },
      {"spread_array: " + std::to_string(part) + " elements of 1024 bytes", kBeyond});
  test::expect_error(
      [] { spread_array<Kilobyte>(kMost, blocked); },
      {"spread_array: " + std::to_string(part) + " elements of 1024 bytes", kBeyond});
}

TEST_F(Size, of_spread_memory) {
  test::expect_error([] { all_spread_malloc(kMost, kHalf); },
                     {"all_spread_malloc: ", " elements of 4294967296 bytes " + kBeyond});
  test::expect_error([] { all_spread_malloc<std::uint64_t>(kMost); }, {"all_spread_malloc: "});
  test::expect_error([] { local_malloc<std::uint64_t>(kMost / 8 + 1); },
                     {"local_malloc: 2305843009213693952 elements of 8 bytes " + kBeyond});
}

TEST_F(Size, of_blocks_that_would_wrap_when_they_are_rounded_up) {
  for (const std::size_t bytes : {kMost, kMost - 62, kMost - 63, kMost - 64}) {
    test::expect_error([&] { local_malloc<char>(bytes); },
                       {"local_malloc: no room for " + std::to_string(bytes) + " bytes"});
    test::expect_error([&] { detail::all_allocate(bytes, "all_allocate", 0); },
                       {"all_allocate: no room for " + std::to_string(bytes) + " bytes"});
  }
  // The same with a hole to put it in.
  char* const low = local_malloc<char>(1000);
  char* const high = local_malloc<char>(64);
  local_free(low);
  test::expect_error([] { local_malloc<char>(kMost); }, {"no room for 18446744073709551615 bytes"});
  local_free(high);
}

TEST_F(Size, of_arrays_of_two_dimensions) {
  test::expect_error([] { spread_array_2d<char>(kHalf, kHalf); },
                     {"spread_array_2d: 4294967296 rows of 4294967296 elements " + kBeyond});
  test::expect_error(
      [] { spread_array_2d<char>(3, 3, block_cyclic(kHalf), block_cyclic(kHalf)); },
      {"spread_array_2d: 4294967296 rows of a tile of 4294967296 elements " + kBeyond});
  test::expect_error([] { spread_array_2d<char>::of_tiles(kHalf, 1, kHalf, 1); },
                     {"spread_array_2d::of_tiles: 4294967296 tiles of 4294967296 rows " + kBeyond});
  test::expect_error([] { spread_array_2d<char>::of_tiles(1, kHalf, 1, kHalf); },
                     {"of_tiles: 4294967296 tiles of 4294967296 columns " + kBeyond});
  test::expect_error([] { spread_array_2d<char>(kMost, 1, block_cyclic(kMost - 1)); },
                     {"spread_array"});
}

TEST_F(Size, of_ranges_of_indices) {
  test::expect_error([] { my_2d(kHalf, kHalf); },
                     {"my_2d: 4294967296 rows of 4294967296 columns " + kBeyond});
  std::size_t steps = 0;  // the last index is the largest there is
  for (auto i = my_1d(kMost).begin(); steps < 3; ++i) EXPECT_EQ(*i, my_proc() + procs() * steps++);
}

TEST_F(Size, of_spans_in_bulk) {
  const spread_array<std::uint64_t> a(procs());
  std::uint64_t word = 5;
  const std::span<std::uint64_t> wrong(&word, kMost / 8 + 1);  // 2^64 bytes, so to say none
  const auto p = a.on(my_proc());
  const std::string bytes = ": 2305843009213693952 elements of 8 bytes " + kBeyond;
  test::expect_error([&] { bulk_read(wrong, p); }, {"bulk_read" + bytes});
  test::expect_error([&] { bulk_write(p, wrong); }, {"bulk_write" + bytes});
  test::expect_error([&] { bulk_get(wrong, p); }, {"bulk_get" + bytes});
  test::expect_error([&] { bulk_put(p, wrong); }, {"bulk_put" + bytes});
  test::expect_error([&] { bulk_store(p, wrong); }, {"bulk_store" + bytes});
  EXPECT_EQ(*p, 0u);
  barrier();
}

TEST_F(Size, of_gathered_spans) {
  if (procs() % 2 != 0) return;
  std::vector<char> all(1);
  const std::span<char> mine(all.data(), kMost / procs() + 1);  // of all together: 2^64, or 0
  test::expect_error([&] { all_gather(mine, std::span(all).first(0)); },
                     {"all_gather: " + std::to_string(procs()) + " processes of " +
                      std::to_string(kMost / procs() + 1) + " elements " + kBeyond});
}

TEST_F(Size, of_strided_channels) {
  const spread_array<std::uint64_t> a(procs());
  const std::uint64_t word = 0;
  const strided shapes[] = {
      {.run = kMost / 4},                                             // times 8 bytes
      {.run = 1, .rows = 2, .planes = 1, .row_stride = kMost / 8},    // in bytes
      {.run = 1, .rows = 4, .planes = 4, .plane_stride = kMost / 4},  // from plane to plane
      {.run = std::size_t{1} << 40,
       .rows = 1u << 24,
       .planes = 1,
       .row_stride = 0},  // all elements
  };
  for (const strided& shape : shapes) {
    test::expect_error([&] { put_channel<std::uint64_t>(a.on(my_proc()), shape, &word, shape); },
                       {"put_channel: runs of " + std::to_string(shape.run) + " elements",
                        "reach further than any memory"});
  }
  barrier();
}

TEST_F(Size, of_reduce_channels) {
  if (procs() % 2 != 0) return;
  double number = 0;
  const std::span<double> wrong(&number, kMost / procs() + 1);
  const auto make = [&] { reduce_channel<double>(std::span(&number, 1), wrong, my_proc()); };
  test::expect_error(make, {"reduce_channel: " + std::to_string(procs()) + " processes of "});
}

TEST_F(Size, of_steps_that_leave_the_memory_of_a_process) {
  if (!am::kChecked) GTEST_SKIP();
  const global_ptr<std::uint64_t> p(procs() - 1, 4096);
  const std::string left = "is outside the 2^40 bytes that a process has; check the index";
  test::expect_error([&] { p + (std::ptrdiff_t{1} << 37); },
                     {"global_ptr: 137438953472 elements of 8 bytes from offset 4096", left});
  test::expect_error([&] { p - 513; }, {"-513 elements of 8 bytes from offset 4096", left});
  test::expect_error([&] { p[std::ptrdiff_t{1} << 61] = 1; }, {left});  // 2^64 bytes
  test::expect_error([&] { spread_ptr(p) + (std::ptrdiff_t{1} << 60); }, {left});
  test::expect_error(
      [] { global_ptr<int>(0, std::uint64_t{1} << 40); },
      {"global_ptr: offset 1099511627776 of process 0 is outside the global address"});
  test::expect_error([] { global_ptr<int>(1u << 24, 64); },
                     {"offset 64 of process 16777216 is outside the global address space"});
  EXPECT_EQ((p - 512).offset(), 0u);
  EXPECT_EQ((p + ((std::ptrdiff_t{1} << 37) - 513)).offset(), (std::uint64_t{1} << 40) - 8);
}

TEST_F(Size, of_steps_as_long_as_there_are_numbers) {
  constexpr std::ptrdiff_t kFurthest = std::numeric_limits<std::ptrdiff_t>::max();
  constexpr std::ptrdiff_t kLeast = std::numeric_limits<std::ptrdiff_t>::min();
  const global_ptr<std::uint64_t> at(procs() - 1, 4096);
  const spread_ptr<std::uint64_t> spread(at);
  const std::function<void()> steps[] = {[&] { static_cast<void>(at + kFurthest); },
                                         [&] { static_cast<void>(at - kFurthest); },
                                         [&] { static_cast<void>(at + kLeast); },
                                         [&] { static_cast<void>(at - kLeast); },
                                         [&] { static_cast<void>(spread + kFurthest); },
                                         [&] { static_cast<void>(spread - kFurthest); },
                                         [&] { static_cast<void>(spread + kLeast); },
                                         [&] { static_cast<void>(spread - kLeast); }};
  for (const auto& step : steps) {
    if (am::kChecked) {
      test::expect_error(step, {"is outside the 2^40 bytes that a process has; check the index"});
    } else {
      step();  // to some other pointer
    }
  }
  if (procs() == 1 || !am::kChecked) return;
  // Behind process 0 the number of the next process is more than any number.
  test::expect_error(steps[4], {"global_ptr: 9223372036854775807 elements of 8 bytes from offset"});
}

}  // namespace
