// Who leaves a call of a team before others have come, and how far ahead that may go.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "splitc/group/groups.h"
#include "splitc/splitc.h"
#include "tests/splitc/nodes.h"

namespace {

using namespace splitc;
using Word = std::uint32_t;

// Tells every process, or one, that this one has come so far.
class Told {
 public:
  void all(Word number) {
    for (std::uint32_t p = 0; p < procs(); ++p) one(p, number);
  }
  void one(std::uint32_t proc, Word number) { words_[proc * procs() + my_proc()] = number; }
  // By `proc`.
  void wait(std::uint32_t proc, Word number) {
    wait_until([&] { return words_.mine()[proc] >= number; });
  }

 private:
  // A row of each process, of what the others have told it.
  spread_array<Word> words_{procs() * procs(), blocked};
};

// The others call only when the root has returned: if it waited for them, nobody would go on.
TEST(Team, the_root_of_a_broadcast_waits_for_nobody) {
  Told told;
  const team t = team::world();
  for (Word turn = 1; turn <= 3; ++turn) {
    for (std::uint32_t root = 0; root < procs(); ++root) {
      if (root % 8 == 0) t.barrier();  // so that nobody is too far ahead
      const Word number = turn * procs() + root;
      if (my_proc() != root) told.wait(root, number);
      std::array<Word, 1000> large{};
      large.back() = number + my_proc();
      EXPECT_EQ(t.all_bcast(number + my_proc(), root), number + root);
      EXPECT_EQ(t.all_bcast(large, root).back(), number + root);
      if (my_proc() == root) told.all(number);
    }
  }
  barrier();
}

TEST(Team, who_only_gives_to_a_reduction_or_gather_waits_for_nobody) {
  Told told;
  // So that nobody passes on what others give.
  const team t = team::world().split(static_cast<std::int64_t>(my_proc() / 2));
  for (Word turn = 1; turn <= 10; ++turn) {
    if (t.rank() == 0 && t.size() > 1) told.wait(t.proc(1), turn);
    const Word sum = t.all_reduce_to_one(turn + t.rank(), std::plus());
    EXPECT_EQ(sum, t.rank() == 0 ? t.size() * turn + t.size() - 1 : turn + t.rank());
    EXPECT_EQ(t.all_gather_to_one(turn).size(), t.rank() == 0 ? t.size() : 0u);
    if (t.rank() != 0) told.one(t.proc(0), turn);
  }
  barrier();
}

// As many as it likes, and what waits here for this process stays bounded.
TEST(Team, a_root_that_is_ahead_waits_before_it_is_too_far) {
  constexpr Word kBefore = 64, kCalls = 500;
  Told told;
  const team t = team::world();
  t.barrier();
  const std::uint32_t last = procs() - 1;
  if (my_proc() == last && last != 0) told.wait(0, 1);
  for (Word i = 0; i < kCalls; ++i) {
    ASSERT_EQ(t.all_bcast(i + 7 * my_proc()), i);
    if (my_proc() == 0 && i + 1 == kBefore) told.all(1);
    if (i % 50 == 0) {
      const std::uint64_t number = detail::Groups::of_world().everybody()->number();
      std::size_t kept = 0;
      for (const auto& of_call : detail::Groups::of_world().mail().inbox(number).kept) {
        kept += of_call.size();
      }
      EXPECT_LE(kept, 2 * kBefore + 4);
    }
  }
  barrier();
}

// Between nodes it waits for nobody who receives many bytes either, and these stay bounded, too.
TEST(Team, a_root_of_many_bytes_is_ahead_of_other_nodes_but_not_too_far) {
  constexpr std::size_t kWords = 10'000;
  constexpr Word kBefore = 2, kCalls = 100;
  Told told;
  const team t = team::world();
  t.barrier();
  const std::uint32_t last = procs() - 1;
  if (my_proc() == last && test::is_far(0)) told.wait(0, 1);
  std::size_t most = 0;
  for (Word i = 0; i < kCalls; ++i) {
    std::vector<Word> words(kWords, i + 7 * my_proc());
    words.back() += i;
    t.all_bcast(std::span(words));
    ASSERT_EQ(std::ranges::count(words, i), i == 0 ? kWords : kWords - 1);
    ASSERT_EQ(words.back(), 2 * i);
    if (my_proc() == 0 && i + 1 == kBefore) told.all(1);
    const std::uint64_t number = detail::Groups::of_world().everybody()->number();
    std::size_t kept = 0;
    for (const auto& of_call : detail::Groups::of_world().mail().inbox(number).kept) {
      for (const auto& one : of_call) kept += one.bytes().size();
    }
    most = std::max(most, kept);
  }
  EXPECT_LE(most, std::size_t{1} << 20);
  barrier();
}

// Two vectors whose addresses are nearly equal in their lower bits, which memcpy() copies slowly.
TEST(Team, spans_at_all_distances_of_one_another_are_moved) {
  constexpr std::size_t kWords = 10'000;
  const team t = team::world();
  std::vector<Word> memory(2 * kWords + 2048);
  for (const std::size_t apart : {0u, 1u, 2u, 4u, 7u, 8u, 500u, 1023u}) {
    std::span<Word> mine(memory.data(), kWords);
    std::span<Word> sum(memory.data() + kWords + (1024 - kWords % 1024) + apart, kWords);
    for (std::size_t i = 0; i < kWords; ++i) mine[i] = static_cast<Word>(i + my_proc());
    t.all_reduce(std::span<const Word>(mine), sum, std::plus<Word>());
    for (std::size_t i = 0; i < kWords; ++i) {
      ASSERT_EQ(sum[i], procs() * static_cast<Word>(i) + procs() * (procs() - 1) / 2);
    }
  }
}

}  // namespace
