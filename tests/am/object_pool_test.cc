#include "am/types/object_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <vector>

namespace {

std::atomic<std::size_t> taken_bytes = 0;  // by operator new, ever

}  // namespace

// Not inlined: where g++ inlines one of a pair, it warns that the other does not belong to it.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  taken_bytes += bytes;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

struct Operation {
  explicit Operation(int value = 0) : value(value) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  std::uint32_t number = 0;
  int value;
};
using Pool = am::ObjectPool<Operation>;

Operation& take(Pool& pool) {
  return pool.take([](Operation& made, std::uint32_t number) { made.number = number; });
}

TEST(ObjectPool, numbers_new_objects_in_turn) {
  Pool pool;
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(take(pool).number, i);
  EXPECT_EQ(pool.size(), 100u);
  EXPECT_EQ(pool.in_use(), 100u);
}

TEST(ObjectPool, takes_memory_in_proportion_to_its_objects) {
  Pool pool;
  const std::size_t before = taken_bytes;
  constexpr std::size_t kObjects = 10'000;
  for (std::size_t i = 0; i < kObjects; ++i) take(pool);
  EXPECT_LT(taken_bytes - before, 100 * kObjects);
}

TEST(ObjectPool, uses_what_was_given_back_as_it_was_left) {
  Pool pool;
  Operation& first = take(pool);
  first.value = 7;
  pool.give_back(first);
  EXPECT_EQ(pool.in_use(), 0u);
  Operation& again = take(pool);
  EXPECT_EQ(&again, &first);
  EXPECT_EQ(again.value, 7);
  EXPECT_EQ(pool.size(), 1u);
}

TEST(ObjectPool, hands_out_nothing_twice_and_moves_nothing) {
  Pool pool;
  std::mt19937 random(1);
  std::vector<Operation*> used;
  std::set<Operation*> once;  // the same
  std::vector<Operation*> by_number;
  std::size_t most = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 || used.empty()) {
      Operation& taken = take(pool);
      if (taken.number == by_number.size()) by_number.push_back(&taken);
      ASSERT_EQ(by_number.at(taken.number), &taken);
      used.push_back(&taken);
      ASSERT_TRUE(once.insert(&taken).second);
    } else {
      std::swap(used[random() % used.size()], used.back());
      pool.give_back(*used.back());
      once.erase(used.back());
      used.pop_back();
    }
    most = std::max(most, used.size());
    ASSERT_EQ(pool.in_use(), used.size());
  }
  EXPECT_EQ(pool.size(), most);
  for (std::uint32_t i = 0; i < by_number.size(); ++i) EXPECT_EQ(&pool[i], by_number[i]);
}

}  // namespace
