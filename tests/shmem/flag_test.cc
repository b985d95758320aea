#include "shmem/flag.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shmem/region.h"
#include "tests/shmem/in_child.h"
#include "tests/support/seed.h"

namespace shmem {
namespace flag_test {

// What is shared lies on the heap: AddressSanitizer's stack of g++ 12 knows no lines of 64 bytes.

TEST(Flag, what_was_stored_before_it_is_visible_after_it) {
  constexpr std::uint64_t kRounds = 20'000;
  const auto there = std::make_unique<Flag>(), back = std::make_unique<Flag>();
  std::uint64_t plain[2] = {0, 0};  // ordinary memory, handed back and forth
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      while (there->value() < i) sched_yield();
      plain[1] = plain[0] * 3;
      back->publish(i);
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    plain[0] = i;
    there->publish(i);
    while (back->value() < i) sched_yield();
    wrong += plain[1] != 3 * i;
  }
  other.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(SharedCounter, gives_every_adder_another_total) {
  constexpr std::uint64_t kThreads = 4, kEach = 20'000;
  const auto counter = std::make_unique<SharedCounter>();
  std::vector<std::vector<std::uint64_t>> got(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : got) {
    threads.emplace_back([&counter, &mine] {
      for (std::uint64_t i = 0; i < kEach; ++i) mine.push_back(counter->add(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint64_t> all, expected(kThreads * kEach);
  for (const auto& mine : got) {
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  EXPECT_EQ(counter->total(), kThreads * kEach);
}

// What several processes count in.
struct Shared {
  SharedCounter sum;
  Flag turn;
};

TEST(SharedCounter, loses_nothing_between_processes) {
  const Region region = Region::create({.what = "a test", .bytes = sizeof(Shared)});
  auto& shared = *reinterpret_cast<Shared*>(region.data());
  const auto results = test::in_children(5, [&](unsigned me) {
    std::mt19937_64 random(::test::seed() + me);
    std::uint64_t added = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t n = random() % 100;
      shared.sum.add(n);
      added += n;
    }
    return std::to_string(added);
  });
  std::uint64_t total = 0;
  for (const std::string& result : results) total += std::stoull(result);
  EXPECT_EQ(shared.sum.total(), total);
}

TEST(Flag, passes_a_turn_around_processes) {
  constexpr std::uint64_t kProcesses = 3, kLaps = 300;
  const Region region = Region::create({.what = "a test", .bytes = sizeof(Shared) + 8});
  auto& shared = *reinterpret_cast<Shared*>(region.data());
  auto& plain = *reinterpret_cast<std::uint64_t*>(region.data() + sizeof(Shared));
  const auto results = test::in_children(kProcesses, [&](unsigned me) {
    for (std::uint64_t turn = me; turn < kProcesses * kLaps; turn += kProcesses) {
      while (shared.turn.value() != turn) sched_yield();
      if (plain != turn * 7) return std::string("saw the turn before the data");
      plain += 7;
      shared.turn.publish(turn + 1);
    }
    return std::string("fine");
  });
  for (const std::string& result : results) EXPECT_EQ(result, "fine");
  EXPECT_EQ(plain, kProcesses * kLaps * 7);
}

}  // namespace flag_test
}  // namespace shmem
