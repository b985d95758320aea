#include "shmem/doorbell.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shmem/flag.h"
#include "shmem/region.h"
#include "tests/shmem/in_child.h"
#include "tests/shmem/longest_sleep.h"
#include "tests/support/seed.h"

namespace shmem {
namespace doorbell_test {

using test::Among;
using test::kForever;

// What is shared lies on the heap: AddressSanitizer's stack of g++ 12 knows no lines of 64 bytes.

// Every test with both kinds of fence: paid by both sides, and by the sleeper alone.
class DoorbellWithFence : public testing::TestWithParam<bool> {
 protected:
  // Before it forks: children are enrolled from their first moment on, wherever they run.
  void SetUp() override {
    if (GetParam() && !Fence::enroll()) GTEST_SKIP() << "the kernel has no such membarrier";
  }
  const Fence fence_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Fences, DoorbellWithFence, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_the_kernel" : "by_both_sides");
});

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kTurns = 10'000;  // each takes several times as long
#else
constexpr int kTurns = 50'000;
#endif

// A message with the bell of the one who waits for it.
struct Line {
  Flag flag;
  Doorbell bell;

  void send(std::uint64_t n, const Fence& fence) {
    flag.publish(n);
    bell.notify(fence);
  }
  // Sleeps until the message is there. Returns how often it slept.
  int wait_for(std::uint64_t n, const Fence& fence, Among among) {
    int sleeps = 0;
    while (flag.value() < n) {
      const std::uint32_t ticket = bell.about_to_sleep();
      fence.heavy();
      if (flag.value() < n) {
        bell.sleep(ticket, test::longest_sleep_ns(fence, among));
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

int ping_pong(Line& mine, Line& other, bool first, int rounds, const Fence& fence, Among among) {
  std::mt19937_64 random(::test::seed() + first);
  int sleeps = 0;
  for (int i = 1; i <= rounds; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    if (!first) sleeps += mine.wait_for(n, fence, among);
    dawdle(random);
    other.send(n, fence);
    if (first) sleeps += mine.wait_for(n, fence, among);
  }
  return sleeps;
}

// A wake-up that gets lost leaves both asleep, and the test does not end.
TEST_P(DoorbellWithFence, loses_no_wake_up_between_threads) {
  const auto lines = std::make_unique<Line[]>(2);
  const auto play = [&](int me) {
    return ping_pong(lines[me], lines[1 - me], me == 0, kTurns, fence_, Among::kThreads);
  };
  std::thread other(play, 1);
  EXPECT_GT(play(0), 0);
  other.join();
}

TEST_P(DoorbellWithFence, loses_no_wake_up_between_processes) {
  const Region region = Region::create({.what = "a test", .bytes = 2 * sizeof(Line)});
  auto* const lines = reinterpret_cast<Line*>(region.data());
  const auto results = test::in_children(2, [&](unsigned me) {
    if (fence_.kernel_assists() && !Fence::enroll()) return std::string("refused");
    ping_pong(lines[me], lines[1 - me], me == 0, kTurns, fence_, Among::kProcesses);
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
      if (!answer_all()) shared.bell.sleep(ticket, kForever);
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
  for (int i = 0; i < 4; ++i)
    sleepers.emplace_back([&] { line->wait_for(1, fence_, Among::kThreads); });
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
  bell->sleep(ticket, kForever);  // returns at once
}

TEST(Doorbell, sleep_ends_with_its_time) {
  const auto bell = std::make_unique<Doorbell>();
  for (const std::int64_t timeout_ns : {0, 1, 1'000'000}) {
    bell->sleep(bell->about_to_sleep(), timeout_ns);
  }
}

TEST(Doorbell, alerts_are_counted_and_wake) {
  const auto bell = std::make_unique<Doorbell>();
  const Fence fence;
  EXPECT_EQ(bell->alerts(), 0u);
  bell->alert(fence);
  EXPECT_EQ(bell->alerts(), 1u);
  const std::uint32_t ticket = bell->about_to_sleep();
  bell->notify(fence);
  bell->alert(fence);
  EXPECT_EQ(bell->alerts(), 2u);
  bell->sleep(ticket, kForever);  // returns at once
}

// --- Owners that sleep on a descriptor

bool is_readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 1;
}

void ring_as_asleep(Doorbell& bell) {
  bell.about_to_sleep();
  bell.ring();
}

TEST(DoorbellSockets, are_readable_from_a_ring_until_they_are_quieted) {
  const auto bell = std::make_unique<Doorbell>();
  DoorbellSocket socket(*bell);
  EXPECT_FALSE(is_readable(socket.fd()));
  for (int i = 0; i < 3; ++i) ring_as_asleep(*bell);
  EXPECT_TRUE(is_readable(socket.fd()));
  socket.quiet();
  EXPECT_FALSE(is_readable(socket.fd()));
}

TEST(DoorbellSockets, take_as_many_rings_as_come) {
  const auto bell = std::make_unique<Doorbell>();
  DoorbellSocket socket(*bell);
  for (int i = 0; i < 2'000; ++i) ring_as_asleep(*bell);  // many more than its queue holds
  EXPECT_TRUE(is_readable(socket.fd()));
  socket.quiet();
  ring_as_asleep(*bell);
  EXPECT_TRUE(is_readable(socket.fd()));
}

// What a socket has sent counts against it until it is read: rings that owners leave where they
// are, as they are awake, must not keep the next owner from being woken.
TEST(DoorbellSockets, are_rung_whatever_others_have_not_read) {
  constexpr int kOwners = 100;
  const auto bells = std::make_unique<Doorbell[]>(kOwners);
  std::vector<std::unique_ptr<DoorbellSocket>> sockets;
  for (int i = 0; i < kOwners; ++i) sockets.push_back(std::make_unique<DoorbellSocket>(bells[i]));
  for (int i = 0; i < kOwners; ++i) {
    for (int ring = 0; ring < 20; ++ring) ring_as_asleep(bells[i]);
    ASSERT_TRUE(is_readable(sockets[static_cast<std::size_t>(i)]->fd())) << "owner " << i;
  }
}

TEST(DoorbellSockets, that_are_gone_are_rung_in_vain) {
  const auto bell = std::make_unique<Doorbell>();
  const auto copy = std::make_unique<Doorbell>();
  {
    DoorbellSocket socket(*bell);
    std::memcpy(static_cast<void*>(copy.get()), bell.get(), sizeof *bell);
  }
  ring_as_asleep(*copy);  // it still has the name
  ring_as_asleep(*bell);
}

TEST(DoorbellSockets, are_refused_in_words_where_descriptors_are_short) {
  const auto results = test::in_children(1, [](unsigned) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit limit{3, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    const auto bell = std::make_unique<Doorbell>();
    try {
      DoorbellSocket socket(*bell);
    } catch (const Error& error) {
      setrlimit(RLIMIT_NOFILE, &before);  // UndefinedBehaviorSanitizer checks what() by a pipe
      return std::string(error.what());
    }
    return std::string("made");
  });
  EXPECT_NE(results[0].find("Too many open files"), std::string::npos) << results[0];
  EXPECT_NE(results[0].find("ulimit -n"), std::string::npos) << results[0];
}

// Two processes that do something at the same time, again and again.
class InStep {
 public:
  // Returns when the other has come here as often as the caller.
  void meet() {
    // pairs with: itself in the other process
    const int goal = (arrived_.fetch_add(1, std::memory_order_acq_rel) / 2 + 1) * 2;
    // pairs with: the line above
    for (int looks = 1; arrived_.load(std::memory_order_acquire) < goal; ++looks) {
      if (looks % 1000 == 0) sched_yield();
    }
  }

 private:
  std::atomic<int> arrived_;
};

TEST_P(DoorbellWithFence, makes_one_of_two_see_the_other) {
  constexpr std::uint64_t kRounds = 10'000;
  struct Shared {
    alignas(64) InStep step;
    Flag written[2];
    std::uint64_t seen[2];
  };
  const Region region = Region::create({.what = "a test", .bytes = sizeof(Shared)});
  auto& shared = *reinterpret_cast<Shared*>(region.data());
  const auto results = test::in_children(2, [&](unsigned me) {
    std::mt19937_64 random(::test::seed() + me);
    int blind = 0;
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      shared.step.meet();
      for (auto n = random() % 600; n > 0; --n) std::atomic_signal_fence(std::memory_order_seq_cst);
      shared.written[me].word.store(i, std::memory_order_relaxed);
      me == 0 ? fence_.heavy() : fence_.light();
      shared.seen[me] = shared.written[1 - me].word.load(std::memory_order_relaxed);
      shared.step.meet();  // nobody goes on before both have looked
      blind += shared.seen[0] != i && shared.seen[1] != i;
    }
    return std::to_string(blind) + " times blind";
  });
  for (const std::string& result : results) EXPECT_EQ(result, "0 times blind");
}

TEST(SleepLimit, doubles_from_a_millisecond_to_a_second_until_somebody_rings) {
  SleepLimit limit;
  for (const std::uint32_t ticket : {7u, 8u, 0u}) {
    std::int64_t expected = 1'000'000;
    for (int i = 0; i < 20; ++i, expected = std::min<std::int64_t>(2 * expected, 1'000'000'000)) {
      EXPECT_EQ(limit.next(ticket), expected);
    }
  }
}

}  // namespace doorbell_test
}  // namespace shmem
