// Data with a signal, waits for words, and atomics that nobody waits for.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace {

using ::test::left;
using ::test::right;

// Around the ring, each step only after the one before has come: of all lengths from none to
// several messages.
TEST(Signal, WhoSeesTheSignalSeesTheData) {
  constexpr std::size_t kMost = 3000;
  spread_array<long> data(procs() * kMost, blocked);
  spread_array<std::uint64_t> signals(procs());
  std::uint64_t& arrived = signals.mine()[0];
  arrived = 0;
  barrier();
  std::uint64_t step = 0;
  for (const std::size_t count : {std::size_t{1}, std::size_t{0}, std::size_t{5}, kMost}) {
    ++step;
    std::vector<long> mine(count);
    std::iota(mine.begin(), mine.end(), long{my_proc()} * 1000000 + static_cast<long>(step));
    put_signal(&data[right() * kMost], mine, &signals[right()]);
    mine.assign(count, -1);
    EXPECT_EQ(wait_until(arrived, [&](std::uint64_t n) { return n >= step; }), step);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(data.mine()[i], long{left()} * 1000000 + static_cast<long>(step + i));
    }
    barrier();
  }
}

TEST(Signal, OfManyProcessesAllAreCounted) {
  spread_array<std::uint64_t> signals(procs());
  spread_array<int> places(procs() * procs(), blocked);
  for (int& place : places.mine()) place = 0;
  signals.mine()[0] = 0;
  barrier();
  const int mine = static_cast<int>(my_proc()) + 1;
  for (std::uint32_t p = 0; p < procs(); ++p) {
    put_signal(&places[p * procs() + my_proc()], {&mine, 1}, &signals[p]);
  }
  wait_until(signals.mine()[0], [](std::uint64_t n) { return n == procs(); });
  for (std::uint32_t p = 0; p < procs(); ++p) {
    EXPECT_EQ(places.mine()[p], static_cast<int>(p) + 1);
  }
  barrier();
}

TEST(Signal, QuiesceCompletesThem) {
  spread_array<std::uint64_t> signals(procs());
  spread_array<int> places(procs());
  signals.mine()[0] = 0;
  barrier();
  const int seven = 7;
  put_signal(&places[right()], {&seven, 1}, &signals[right()]);
  quiesce();
  EXPECT_EQ(signals.mine()[0], 1u);
  EXPECT_EQ(places.mine()[0], 7);
  barrier();
}

TEST(Signal, ASignalOfAnotherProcessIsRefused) {
  spread_array<std::uint64_t> signals(procs());
  spread_array<int> places(procs());
  const int seven = 7;
  if (procs() > 1) {
    test::expect_error(
        [&] {
          put_signal(&places[0], {&seven, 1}, &signals[1]);
        },
        {"put_signal: the data is for process 0 and the signal is not there"});
  }
  test::expect_error(
      [&] {
        put_signal(global_ptr<int>(), {&seven, 1}, &signals[0]);
      },
      {"put_signal", "null"});
  barrier();
}

template <class T>
class OneWay : public testing::Test {};
using Words = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(OneWay, Words);

// Each process changes one word of every process, all at once.
TYPED_TEST(OneWay, QuiesceCompletesWhatNobodyWaitsFor) {
  using T = TypeParam;
  enum : std::size_t { kSum, kLeast, kMost, kAnd, kOr, kXor, kCount };
  spread_array<T> words(procs() * kCount, blocked);
  const std::array<T, kCount> before{3, 100, 2, 127, 0, 85};
  std::copy(before.begin(), before.end(), words.mine().begin());
  barrier();
  const T x = static_cast<T>(my_proc() + 1);
  for (std::uint32_t p = 0; p < procs(); ++p) {
    const global_ptr<T> there = &words[p * kCount];
    atomic_add(there + kSum, x);
    atomic_min(there + kLeast, x);
    atomic_max(there + kMost, x);
    atomic_and(there + kAnd, x);
    atomic_or(there + kOr, x);
    atomic_xor(there + kXor, x);
  }
  quiesce();
  std::array<T, kCount> after = before;
  for (std::uint32_t p = 0; p < procs(); ++p) {
    const T y = static_cast<T>(p + 1);
    after[kSum] = static_cast<T>(after[kSum] + y);
    after[kLeast] = std::min(after[kLeast], y);
    after[kMost] = std::max(after[kMost], y);
    after[kAnd] = static_cast<T>(after[kAnd] & y);
    after[kOr] = static_cast<T>(after[kOr] | y);
    after[kXor] = static_cast<T>(after[kXor] ^ y);
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(words.mine()[i], after[i]) << "word " << i;
  barrier();
}

TEST(OneWayOfDoubles, AddMinAndMax) {
  spread_array<double> words(procs() * 3, blocked);
  std::fill(words.mine().begin(), words.mine().end(), 1.5);
  barrier();
  for (std::uint32_t p = 0; p < procs(); ++p) {
    atomic_add(&words[p * 3], 0.25);
    atomic_min(&words[p * 3 + 1], -double(my_proc()));
    atomic_max(&words[p * 3 + 2], 2.0 + my_proc());
  }
  quiesce();
  EXPECT_EQ(words.mine()[0], 1.5 + 0.25 * procs());
  EXPECT_EQ(words.mine()[1], 1.0 - procs());
  EXPECT_EQ(words.mine()[2], 1.0 + procs());
  barrier();
}

}  // namespace
}  // namespace splitc
