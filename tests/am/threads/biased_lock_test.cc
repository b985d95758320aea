#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "am/sync/locks.h"
#include "tests/support/seed.h"

namespace am {
namespace {

// Whether this thread, which takes it, then has it by bias.
bool biased(BiasedLock& lock) {
  const std::lock_guard guard(lock);
  return lock.biased();
}
bool kernel_assists() {
  BiasedLock lock;
  return biased(lock);
}

template <class Body>
void elsewhere(Body body) {
  std::thread(body).join();
}

TEST(BiasedLock, is_its_first_threads_by_bias_until_another_takes_it) {
  if (!kernel_assists()) GTEST_SKIP() << "the kernel has no membarrier";
  BiasedLock lock;
  EXPECT_TRUE(biased(lock));
  elsewhere([&] { EXPECT_FALSE(biased(lock)); });
  EXPECT_FALSE(biased(lock));
}

TEST(BiasedLock, goes_by_bias_to_who_takes_it_after_it_was_given_up) {
  if (!kernel_assists()) GTEST_SKIP() << "the kernel has no membarrier";
  BiasedLock lock;
  EXPECT_TRUE(biased(lock));
  lock.give_up_bias();
  elsewhere([&] {
    EXPECT_TRUE(biased(lock));
    lock.give_up_bias();
  });
  EXPECT_TRUE(biased(lock));
  elsewhere([&] {
    lock.give_up_bias();  // which is another's
    EXPECT_FALSE(biased(lock));
  });
}

TEST(BiasedLock, has_no_bias_once_it_is_told_so) {
  BiasedLock fresh;
  fresh.be_unbiased();
  EXPECT_FALSE(biased(fresh));
  BiasedLock lock;
  biased(lock);
  lock.be_unbiased();
  lock.be_unbiased();
  EXPECT_FALSE(biased(lock));
  lock.give_up_bias();
  elsewhere([&] { EXPECT_FALSE(biased(lock)); });
}

TEST(BiasedLock, may_be_taken_again_by_the_thread_that_has_it) {
  BiasedLock lock;
  for (const bool alone : {true, false}) {
    if (!alone) elsewhere([&] { biased(lock); });
    lock.lock();
    lock.lock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    lock.unlock();
    if (!alone) elsewhere([&] { EXPECT_FALSE(lock.try_lock()); });
    lock.unlock();
    elsewhere([&] {
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
    });
  }
}

// The numbers that threads count, some of them inside twice, and the moment at which the second and
// the third come are random.
TEST(BiasedLock, lets_one_thread_in_at_a_time_whenever_others_come) {
  std::mt19937_64 random(::test::seed());
  for (int round = 0; round < 300; ++round) {
    BiasedLock lock;
    std::uint64_t counted = 0;  // by whoever is inside
    const auto count = [&](std::uint32_t times, bool twice) {
      for (std::uint32_t i = 0; i < times; ++i) {
        const std::lock_guard guard(lock);
        ++counted;
        if (!twice) continue;
        const std::lock_guard again(lock);
        ++counted;
      }
    };
    std::uint64_t expected = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      const auto times = static_cast<std::uint32_t>(random() % 3000);
      const auto later = static_cast<std::uint32_t>(random() % 3000);
      const bool twice = random() % 2 == 0;
      expected += std::uint64_t{times} * (twice ? 2 : 1);
      threads.emplace_back([&count, times, later, twice, thread] {
        std::atomic<std::uint32_t> spins{0};
        while (thread != 0 && spins.load() < later) spins.fetch_add(1);
        count(times, twice);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(counted, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace am
