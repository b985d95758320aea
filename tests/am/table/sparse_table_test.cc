#include "am/table/sparse_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/seed.h"

namespace {

using am::SparseTable;

constexpr std::size_t kMany = std::size_t{1} << 24;  // of 8 bytes: 128 MiB

// Pages of the table that have memory.
template <class T>
std::size_t pages(const SparseTable<T>& table) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t count = (table.size() * sizeof(T) + page - 1) / page;
  std::vector<unsigned char> there(count);
  EXPECT_EQ(mincore(table.data(), count * page, there.data()), 0);
  std::size_t found = 0;
  for (const unsigned char one : there) found += one & 1;
  return found;
}

TEST(SparseTable, is_all_zero_and_holds_what_is_written) {
  for (const std::size_t size : {1, 100, 10'000, 100'000}) {
    SparseTable<std::uint64_t> table(size);
    std::mt19937_64 random(test::seed());
    std::map<std::size_t, std::uint64_t> model;
    for (int i = 0; i < 50; ++i) {
      const std::size_t at = random() % size;
      model[at] = table[at] = random();
    }
    for (std::size_t at = 0; at < size; ++at) {
      const auto written = model.find(at);
      ASSERT_EQ(table[at], written == model.end() ? 0 : written->second) << at << " of " << size;
    }
  }
}

TEST(SparseTable, has_memory_only_where_it_is_written) {
  SparseTable<std::uint64_t> table(kMany);
  EXPECT_EQ(pages(table), 0u);
  for (std::size_t i = 0; i < 10; ++i) table[i * (kMany / 10)] = 1;
  EXPECT_EQ(pages(table), 10u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which leave no room
TEST(SparseTable, what_is_never_written_need_not_be_promised) {
  // A limit of what is private and may be written, as a system has that promises no more memory
  // than it has.
  std::ifstream statm("/proc/self/statm");
  rlim_t data = 0;
  for (int field = 0; field < 6; ++field) statm >> data;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{16} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  EXPECT_THROW(SparseTable<std::uint64_t>{kMany}, std::bad_alloc);
  SparseTable<std::uint64_t> table(kMany, 1000);
  setrlimit(RLIMIT_DATA, &before);
  table[999] = 9;
  EXPECT_EQ(table[999], 9u);
  EXPECT_EQ(table[kMany - 1], 0u);
}
#endif

TEST(SparseTable, keeps_what_it_holds_and_no_more_when_it_is_resized) {
  SparseTable<std::uint64_t> table(100);
  table[7] = 7;
  table[99] = 99;
  table.resize(kMany);
  EXPECT_EQ(table[7], 7u);
  EXPECT_EQ(table[99], 99u);
  table[kMany - 1] = 3;
  EXPECT_EQ(pages(table), 2u);
  table.resize(2 * kMany);
  EXPECT_EQ(table[kMany - 1], 3u);
  EXPECT_EQ(pages(table), 2u);
  table.resize(50);
  EXPECT_EQ(table.size(), 50u);
  EXPECT_EQ(table[7], 7u);
  table.resize(100);
  EXPECT_EQ(table[99], 0u);
}

TEST(SparseTable, moves) {
  SparseTable<std::uint64_t> table(kMany);
  table[5] = 5;
  SparseTable<std::uint64_t> other(std::move(table));
  EXPECT_EQ(other[5], 5u);
  other = SparseTable<std::uint64_t>(3);
  EXPECT_EQ(other.size(), 3u);
  EXPECT_EQ(other[2], 0u);
}

}  // namespace
