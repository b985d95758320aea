#include "shmem/doorbell.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shmem/flag.h"
#include "shmem/region.h"
#include "tests/shmem/in_child.h"
#include "tests/support/seed.h"

namespace shmem {
namespace {

// What is shared lies on the heap: AddressSanitizer's stack of g++ 12 knows no lines of 64 bytes.

// Every test with both kinds of fence: paid by both sides, and by the sleeper alone.
class DoorbellWithFence : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Fence::enroll()) GTEST_SKIP() << "the kernel has no such membarrier";
  }
  const Fence fence_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Fences, DoorbellWithFence, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_the_kernel" : "by_both_sides");
});

// A message with the bell of the one who waits for it.
struct Line {
  Flag flag;
  Doorbell bell;

  void send(std::uint64_t n, const Fence& fence) {
    flag.publish(n);
    bell.notify(fence);
  }
  // Sleeps without a limit until the message is there. Returns how often it slept.
  int wait_for(std::uint64_t n, const Fence& fence) {
    int sleeps = 0;
    while (flag.value() < n) {
      const std::uint32_t ticket = bell.about_to_sleep();
      fence.heavy();
      if (flag.value() < n) {
        bell.sleep(ticket, Doorbell::kForever);
        ++sleeps;
      }
    }
    return sleeps;
  }
};

// Some nanoseconds to some microseconds, so that the two sides meet in every possible way.
void dawdle(std::mt19937_64& random) {
  const auto rounds = random() % 4 == 0 ? random() % 2000 : random() % 50;
  for (std::uint64_t i = 0; i < rounds; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

int ping_pong(Line& mine, Line& other, bool first, int rounds, const Fence& fence) {
  std::mt19937_64 random(::test::seed() + first);
  int sleeps = 0;
  for (int i = 1; i <= rounds; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    if (!first) sleeps += mine.wait_for(n, fence);
    dawdle(random);
    other.send(n, fence);
    if (first) sleeps += mine.wait_for(n, fence);
  }
  return sleeps;
}

// A wake-up that gets lost leaves both asleep, and the test does not end.
TEST_P(DoorbellWithFence, loses_no_wake_up_between_threads) {
  const auto lines = std::make_unique<Line[]>(2);
  std::thread other([&] { ping_pong(lines[1], lines[0], false, 50'000, fence_); });
  EXPECT_GT(ping_pong(lines[0], lines[1], true, 50'000, fence_), 0);
  other.join();
}

TEST_P(DoorbellWithFence, loses_no_wake_up_between_processes) {
  const Region region = Region::create({.what = "a test", .bytes = 2 * sizeof(Line)});
  auto* const lines = reinterpret_cast<Line*>(region.data());
  const auto results = test::in_children(2, [&](unsigned me) {
    if (fence_.kernel_assists() && !Fence::enroll()) return std::string("refused");
    ping_pong(lines[me], lines[1 - me], me == 0, 50'000, fence_);
    return std::string("fine");
  });
  EXPECT_EQ(results, (std::vector<std::string>{"fine", "fine"}));
}

TEST_P(DoorbellWithFence, wakes_for_each_of_many_neighbours) {
  constexpr int kNeighbours = 3, kRounds = 3'000;
  struct Shared {
    Doorbell bell;
    Flag asked[kNeighbours];
    Flag answered[kNeighbours];
  };
  const Region region = Region::create({.what = "a test", .bytes = sizeof(Shared)});
  auto& shared = *reinterpret_cast<Shared*>(region.data());
  const auto neighbour = [&](unsigned me) {
    std::mt19937_64 random(::test::seed() + me);
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      dawdle(random);
      shared.asked[me].publish(i);
      shared.bell.notify(fence_);
      while (shared.answered[me].value() < i) sched_yield();
    }
    return std::string("fine");
  };
  const auto owner = [&] {
    std::uint64_t seen[kNeighbours] = {};
    const auto answer_all = [&] {
      bool some = false;
      for (int i = 0; i < kNeighbours; ++i) {
        const std::uint64_t asked = shared.asked[i].value();
        if (asked == seen[i]) continue;
        some = true;
        shared.answered[i].publish(seen[i] = asked);
      }
      return some;
    };
    const auto done = [&] {
      for (const std::uint64_t n : seen) {
        if (n < kRounds) return false;
      }
      return true;
    };
    while (!done()) {
      if (answer_all()) continue;
      const std::uint32_t ticket = shared.bell.about_to_sleep();
      fence_.heavy();
      if (!answer_all()) shared.bell.sleep(ticket, Doorbell::kForever);
    }
    return std::string("fine");
  };
  const auto results = test::in_children(
      kNeighbours + 1, [&](unsigned me) { return me == kNeighbours ? owner() : neighbour(me); });
  for (const std::string& result : results) EXPECT_EQ(result, "fine");
}

TEST_P(DoorbellWithFence, wakes_every_thread_of_its_owner) {
  const auto line = std::make_unique<Line>();
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) sleepers.emplace_back([&] { line->wait_for(1, fence_); });
  line->send(1, fence_);
  for (std::thread& sleeper : sleepers) sleeper.join();
}

TEST_P(DoorbellWithFence, notify_rings_once_for_a_sleeper) {
  const auto bell = std::make_unique<Doorbell>();
  bell->notify(fence_);  // nobody sleeps
  const std::uint32_t ticket = bell->about_to_sleep();
  EXPECT_EQ(ticket, 0u);
  bell->notify(fence_);
  bell->notify(fence_);  // it is on its way up already
  EXPECT_EQ(bell->about_to_sleep(), ticket + 1);
}

TEST(Doorbell, a_ring_since_the_ticket_prevents_sleep) {
  const auto bell = std::make_unique<Doorbell>();
  const std::uint32_t ticket = bell->about_to_sleep();
  bell->ring();
  bell->sleep(ticket, Doorbell::kForever);  // returns at once
}

TEST(Doorbell, sleep_ends_with_its_time) {
  const auto bell = std::make_unique<Doorbell>();
  for (const std::int64_t timeout_ns : {0, 1, 1'000'000}) {
    bell->sleep(bell->about_to_sleep(), timeout_ns);
  }
}

// Two threads that do something at the same time, again and again.
class InStep {
 public:
  // Returns when the other has come here as often as the caller.
  void meet() {
    // pairs with: itself in the other thread
    const int goal = (arrived_.fetch_add(1, std::memory_order_acq_rel) / 2 + 1) * 2;
    // pairs with: the line above
    for (int looks = 1; arrived_.load(std::memory_order_acquire) < goal; ++looks) {
      if (looks % 1000 == 0) sched_yield();
    }
  }

 private:
  std::atomic<int> arrived_{0};
};

TEST_P(DoorbellWithFence, makes_one_of_two_see_the_other) {
  constexpr std::uint64_t kRounds = 10'000;
  InStep step;
  const auto x = std::make_unique<Flag>(), y = std::make_unique<Flag>();
  std::uint64_t rare_saw = 0, often_saw = 0;
  // Both act in every round, and nobody goes on before `check`.
  const auto rounds = [&](std::uint64_t seed, auto&& act, auto&& check) {
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      step.meet();
      for (auto n = random() % 600; n > 0; --n) std::atomic_signal_fence(std::memory_order_seq_cst);
      act(i);
      step.meet();
      check(i);
    }
  };
  std::thread rare([&] {
    rounds(
        ::test::seed(),
        [&](std::uint64_t i) {
          x->word.store(i, std::memory_order_relaxed);
          fence_.heavy();
          rare_saw = y->word.load(std::memory_order_relaxed);
        },
        [](std::uint64_t) {});
  });
  int blind = 0;
  rounds(
      ::test::seed() + 1,
      [&](std::uint64_t i) {
        y->word.store(i, std::memory_order_relaxed);
        fence_.light();
        often_saw = x->word.load(std::memory_order_relaxed);
      },
      [&](std::uint64_t i) { blind += rare_saw != i && often_saw != i; });
  rare.join();
  EXPECT_EQ(blind, 0);
}

}  // namespace
}  // namespace shmem
