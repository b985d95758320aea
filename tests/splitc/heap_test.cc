#include "splitc/world/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;

// A block and the byte that fills it.
struct Block {
  std::uint8_t* first;
  std::size_t bytes;
  std::uint8_t fill;
};

bool intact(const Block& block) {
  return std::all_of(block.first, block.first + block.bytes,
                     [&](std::uint8_t byte) { return byte == block.fill; });
}

std::uint64_t used() { return world().heap().used(); }

TEST(Heap, random_blocks_of_both_sides_never_overlap) {
  std::mt19937_64 together(test::seed());  // the same in all processes
  std::mt19937_64 alone(test::seed() + 1 + my_proc());
  std::map<std::size_t, std::pair<spread_ptr<std::uint8_t>, Block>> spread;
  std::vector<Block> local;
  const std::uint64_t before = used();
  for (std::size_t step = 0; step < 400; ++step) {
    if (spread.empty() || together() % 2 == 0) {
      const std::size_t bytes = together() % 5000;
      const auto p = all_spread_malloc<std::uint8_t>(bytes * procs());
      const Block block{p.mine(), bytes, static_cast<std::uint8_t>(alone())};
      ASSERT_TRUE(std::all_of(block.first, block.first + bytes, [](auto x) { return x == 0; }));
      ASSERT_EQ(p.offset() % 64, 0u);
      std::fill_n(block.first, bytes, block.fill);
      spread[step] = {p, block};
    } else {
      const auto victim =
          std::next(spread.begin(), static_cast<std::ptrdiff_t>(together() % spread.size()));
      ASSERT_TRUE(intact(victim->second.second));
      all_spread_free(victim->second.first);
      spread.erase(victim);
    }
    if (local.empty() || alone() % 2 == 0) {
      const std::size_t bytes = alone() % 5000;
      auto* const p = local_malloc<std::uint8_t>(bytes);
      local.push_back({p, bytes, static_cast<std::uint8_t>(alone())});
      std::fill_n(p, bytes, local.back().fill);
    } else {
      std::swap(local[alone() % local.size()], local.back());
      ASSERT_TRUE(intact(local.back()));
      local_free(local.back().first);
      local.pop_back();
    }
  }
  for (const auto& [step, block] : spread) {
    ASSERT_TRUE(intact(block.second));
    all_spread_free(block.first);
  }
  for (const Block& block : local) local_free(block.first);
  EXPECT_EQ(used(), before);
}

TEST(Heap, spread_memory_has_the_same_offset_everywhere) {
  int* const mine = local_malloc<int>(100 * (my_proc() + 1));  // unequal local sides
  const auto p = all_spread_malloc<double>(10 * procs());
  for (const std::uint64_t offset : all_gather(p.offset())) EXPECT_EQ(offset, p.offset());
  EXPECT_EQ(p.proc(), 0u);
  all_spread_free(p);
  local_free(mine);
}

TEST(Heap, an_empty_block_has_a_place_and_is_freed_once) {
  const auto spread = all_spread_malloc<int>(0);
  EXPECT_NE(spread.mine(), nullptr);
  int* const local = local_malloc<int>(0);
  EXPECT_NE(local, nullptr);
  all_spread_free(spread);
  local_free(local);
  EXPECT_THROW(local_free(local), Error);
}

TEST(Heap, local_memory_is_reached_by_others) {
  auto* const mine = local_malloc<std::uint64_t>(4);
  mine[0] = 0;
  mine[3] = my_proc() + 100;
  const auto all = all_gather(toglobal(mine));
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(static_cast<std::uint64_t>(all[proc][3]), proc + 100u);
    fetch_and_add(all[proc], 1);
  }
  barrier();
  EXPECT_EQ(mine[0], procs());
  local_free(mine);
}

// In any build: a program that reads it sees that something is wrong.
TEST(Heap, memory_that_was_freed_holds_no_number_and_no_address) {
  const auto is_poisoned = [](const std::byte* memory, std::size_t bytes) {
    double number = 0;
    float half = 0;
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < std::min<std::size_t>(bytes, 4096); at += 8) {
      std::memcpy(&number, memory + at, sizeof number);
      std::memcpy(&half, memory + at, sizeof half);
      std::memcpy(&word, memory + at, sizeof word);
      if (!std::isnan(number) || !std::isnan(half) || word >> 48 != 0xfffb) return false;
    }
    return true;
  };
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{100'000}}) {
    auto* const local = local_malloc<std::byte>(bytes);
    std::memset(local, 1, bytes);
    local_free(local);
    EXPECT_TRUE(is_poisoned(local, bytes)) << bytes;
    const auto spread = all_spread_malloc<std::byte>(bytes * procs());
    auto* const mine = detail::mapped(my_proc(), spread.offset());
    std::memset(mine, 1, bytes);
    barrier();
    all_spread_free(spread);
    EXPECT_TRUE(is_poisoned(mine, bytes)) << bytes;
    barrier();
    const auto anew = all_spread_malloc<std::byte>(bytes * procs());
    EXPECT_EQ(*detail::mapped(my_proc(), anew.offset()), std::byte{0});
    all_spread_free(anew);
  }
}

TEST(Heap, uses_all_of_its_memory_and_says_when_there_is_no_more) {
  const Heap& heap = world().heap();
  const std::uint64_t before = heap.used();
  const std::uint64_t all = heap.total() / 64 * 64 - before;
  auto* const most = local_malloc<std::uint8_t>(all / 2);
  const auto rest = all_spread_malloc<std::uint8_t>((all - all / 2 - 64) / 64 * 64 * procs());
  const std::uint64_t left = heap.total() - heap.used();
  test::expect_error(
      [&] { local_malloc<std::uint8_t>(left + 64); },
      {"local_malloc: no room for " + std::to_string(left + 64) + " bytes",
       "the heap of each process has " + std::to_string(heap.total()),
       std::to_string(heap.used()) + " of them used", "largest free block has", "SPLITC_SEGMENT"});
  test::expect_error(
      [&] { all_spread_malloc<std::uint8_t>((left + 64) * procs()); },
      {"all_spread_malloc: no room for " + std::to_string(left + 64) + " bytes", "SPLITC_SEGMENT"});
  all_spread_free(rest);
  local_free(most);
  EXPECT_EQ(heap.used(), before);
}

TEST(Heap, tells_all_processes_which_one_lacks_the_memory) {
  const std::uint32_t poor = procs() - 1;
  const std::uint64_t all = world().heap().total() - used();
  auto* const most = my_proc() == poor ? local_malloc<std::uint8_t>(all - 4096) : nullptr;
  const std::string who =
      my_proc() == poor ? "all_spread_malloc: no room" : "rank " + std::to_string(poor) + " has no";
  test::expect_error([] { all_spread_malloc<std::uint8_t>(std::size_t{8192} * procs()); },
                     {who, "no room for 8192 bytes", "the largest free block has"});
  test::expect_error([] { spread_array<std::uint8_t> a(8192 * procs()); },
                     {"spread_array: ", "no room for 8192 bytes"});
  local_free(most);
  all_spread_free(all_spread_malloc<std::uint8_t>(std::size_t{8192} * procs()));
}

TEST(Heap, refuses_sizes_that_overflow) {
  test::expect_error([] { all_spread_malloc<std::uint64_t>(~std::size_t{0}); },
                     {"all_spread_malloc: "});
  test::expect_error([] { local_malloc<std::uint64_t>(~std::size_t{0}); },
                     {"local_malloc: ", "more than any memory holds"});
  test::expect_error([] { local_malloc<char>(~std::size_t{0}); },
                     {"local_malloc: no room for", "(was the number negative?)"});
  test::expect_error([] { all_spread_malloc<char>(~std::size_t{0}); },
                     {"all_spread_malloc: no room"});
  test::expect_error([] { all_spread_malloc(~std::size_t{0} / 2, 1000); }, {"all_spread_malloc: "});
}

TEST(Heap, a_spread_block_is_known_while_it_is_being_agreed_on) {
  Heap& heap = world().heap();
  const std::uint64_t at = heap.find_spread(100);
  EXPECT_FALSE(heap.spread_block_of(at));
  ASSERT_TRUE(heap.prepare_spread(at, 100).fits);
  for (const std::uint64_t offset : {at, at + 99}) {
    const auto block = heap.spread_block_of(offset);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->at, at);
    EXPECT_EQ(block->bytes, 100u);
  }
  EXPECT_FALSE(heap.spread_block_of(at + 128));
  test::expect_error([&] { heap.check_spread(at, "free"); }, {"is not memory that is in use"});
  heap.leave_spread();
  EXPECT_FALSE(heap.spread_block_of(at));
}

TEST(Heap, refuses_to_free_what_is_not_a_block) {
  const auto p = all_spread_malloc<int>(100 * procs());
  int* const local = local_malloc<int>(100);
  int elsewhere = 0;
  test::expect_error([&] { all_spread_free(p + static_cast<std::ptrdiff_t>(procs())); },
                     {"all_spread_free: offset", "is inside a block", "by its first address"});
  test::expect_error([&] { local_free(local + 3); }, {"local_free: offset", "is inside a block"});
  test::expect_error([&] { local_free(&elsewhere); },
                     {"local_free: 0x", "is not in this process's segment"});
  test::expect_error([&] { local_free(p.mine()); },
                     {"local_free: offset", "is spread memory; give it to all_spread_free"});
  test::expect_error([&] { all_spread_free(spread_ptr<int>(0, toglobal(local).offset())); },
                     {"all_spread_free: offset", "is local memory; give it to local_free"});
  if (procs() > 1) {
    test::expect_error([&] { all_spread_free(p + 1); },
                       {"all_spread_free: the pointer is to process 1", "on process 0"});
  }
  all_spread_free(p);
  test::expect_error([&] { all_spread_free(p); },
                     {"all_spread_free: offset", "freed already, or never allocated"});
  local_free(local);
  test::expect_error([&] { local_free(local); },
                     {"local_free: offset", "freed already, or never allocated"});
  local_free(nullptr);
}

}  // namespace
