// Many small questions in blocks, against what every process can compute alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace {

using ::test::right;

// What process `proc` has at `i`.
std::uint64_t word_of(std::uint32_t proc, std::uint64_t i) { return proc * 1'000'003 + i * i; }

std::vector<std::uint64_t> words(std::uint64_t count) {
  std::vector<std::uint64_t> mine(count);
  for (std::uint64_t i = 0; i < count; ++i) mine[i] = word_of(my_proc(), i);
  return mine;
}

TEST(Lookups, bring_every_answer_to_its_place) {
  constexpr std::uint64_t kWords = 1000, kLookups = 20'000;
  dist_object<std::vector<std::uint64_t>> table(words(kWords));
  std::uint64_t add = 7;
  auto look_up = aggregate_lookups<std::uint64_t>(
      table,
      [add](const std::vector<std::uint64_t>& mine, std::uint64_t i) { return mine[i] + add; });
  for (int phase = 0; phase < 2; ++phase) {
    std::vector<std::uint64_t> got(kLookups);
    const auto owner = [&](std::uint64_t i) {
      return static_cast<std::uint32_t>((i * 2654435761u >> 7) % procs());
    };
    for (std::uint64_t i = 0; i < kLookups; ++i) look_up.get(owner(i), i * 31 % kWords, got[i]);
    look_up.wait();
    for (std::uint64_t i = 0; i < kLookups; ++i) {
      ASSERT_EQ(got[i], word_of(owner(i), i * 31 % kWords) + add) << i;
    }
  }
  barrier();
}

template <std::size_t kBytes>
struct Block {
  std::array<std::uint8_t, kBytes> bytes;
};

// Questions and answers from a byte to more than a message has.
template <std::size_t kAsked, std::size_t kAnswered>
void expect_answers() {
  dist_object<std::uint8_t> key(static_cast<std::uint8_t>(my_proc() + 1));
  auto look_up = aggregate_lookups<Block<kAsked>>(
      key, [](const std::uint8_t& mine, const Block<kAsked>& block) {
        Block<kAnswered> answer{};
        answer.bytes.fill(static_cast<std::uint8_t>(
            mine + std::accumulate(block.bytes.begin(), block.bytes.end(), 0)));
        return answer;
      });
  std::vector<Block<kAnswered>> answers(100);
  Block<kAsked> block{};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    block.bytes[i % kAsked] = static_cast<std::uint8_t>(i);
    look_up.get(right(), block, answers[i]);
    const int sum = std::accumulate(block.bytes.begin(), block.bytes.end(), 0);
    if (i % 10 == 9) look_up.wait();
    if (i % 10 == 9) {
      const auto expected = static_cast<std::uint8_t>(right() + 1 + static_cast<unsigned>(sum));
      for (const std::uint8_t byte : answers[i].bytes) ASSERT_EQ(byte, expected);
    }
  }
  barrier();
}
TEST(Lookups, may_have_any_size) {
  expect_answers<1, 1>();
  expect_answers<8, 700>();
  expect_answers<700, 8>();
  expect_answers<5000, 3>();
  expect_answers<3, 5000>();
}

// Of which a std::vector is none.
TEST(Lookups, may_ask_and_answer_by_bools) {
  dist_object<std::uint32_t> object(my_proc());
  auto look_up = aggregate_lookups<bool>(
      object, [](const std::uint32_t& mine, bool odd) { return (mine % 2 == 1) == odd; });
  std::array<bool, 100> got{};
  for (std::size_t i = 0; i < got.size(); ++i) look_up.get(right(), i % 3 == 0, got[i]);
  look_up.wait();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], (right() % 2 == 1) == (i % 3 == 0)) << i;
  }
  barrier();
}

template <class Lookups>
task<> ask_by_and_by(Lookups& look_up, std::span<std::uint64_t> got) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i % 100 == 0) co_await rpc(right(), [] { return my_proc(); });
    look_up.get(right(), i, got[i]);
    if (i % 1000 == 999) look_up.wait();
  }
}

// A task that goes on in the middle of a get() takes the answers that this waits for.
TEST(Lookups, may_be_shared_with_tasks) {
  constexpr std::uint64_t kLookups = 20'000;
  dist_object<std::uint64_t> object(my_proc());
  auto look_up = aggregate_lookups<std::uint64_t>(
      object, [](const std::uint64_t& mine, std::uint64_t i) { return mine * 1'000'003 + i; });
  std::vector<std::uint64_t> mine(10 * kLookups), first(kLookups), second(kLookups);
  const task<> one = ask_by_and_by(look_up, first), another = ask_by_and_by(look_up, second);
  for (std::uint64_t i = 0; i < mine.size(); ++i) look_up.get(right(), i, mine[i]);
  one.wait();
  another.wait();
  look_up.wait();
  for (const auto* got : {&mine, &first, &second}) {
    for (std::uint64_t i = 0; i < got->size(); ++i) {
      ASSERT_EQ((*got)[i], right() * std::uint64_t{1'000'003} + i) << i;
    }
  }
  barrier();
}

TEST(Lookups, that_nobody_waits_for_write_nothing) {
  dist_object<std::uint64_t> object(my_proc());
  std::uint64_t untouched = 99;
  {
    auto look_up =
        aggregate_lookups<int>(object, [](const std::uint64_t& mine, int) { return mine; });
    for (int i = 0; i < 3; ++i) {
      if (right() != my_proc()) look_up.get(right(), i, untouched);
    }
    look_up.flush();
  }
  untouched = 99;  // an answer may have come before the end, but none does behind it
  barrier();
  sync();
  EXPECT_EQ(untouched, 99u);
  barrier();
}

TEST(Lookups, refuse_processes_that_are_not_there) {
  dist_object<int> object(0);
  auto look_up = aggregate_lookups<int>(object, [](const int& mine, int x) { return mine + x; });
  int got = 0;
  test::expect_error([&] { look_up.get(procs(), 1, got); }, {"lookups::get: there is no process"});
}

}  // namespace
}  // namespace splitc
