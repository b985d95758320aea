// Teams, held to a serial oracle: who is in which team follows from random choices that all
// processes make alike, and so does what every member gives.

#include "splitc/team/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "splitc/group/groups.h"
#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using Word = std::uint32_t;
using Procs = std::vector<std::uint32_t>;  // of a team, by rank

// What `proc` gives at place `at` of the call `key`.
Word word(Word key, std::uint32_t proc, std::size_t at = 0) {
  return (key + proc * 1000003u + static_cast<Word>(at) * 7919u) * 2654435761u;
}

// x -> a x + b: composing them is associative, and depends on the order.
struct Affine {
  Word a, b;
  bool operator==(const Affine&) const = default;
};
Affine then(const Affine& f, const Affine& g) { return {f.a * g.a, f.b * g.a + g.b}; }
Affine affine(Word key, std::uint32_t proc, std::size_t at = 0) {
  return {word(key, proc, 2 * at) | 1, word(key, proc, 2 * at + 1)};
}
Affine fold(Word key, const Procs& procs, std::size_t count, std::size_t at = 0) {
  Affine sum = affine(key, procs[0], at);
  for (std::size_t i = 1; i < count; ++i) sum = then(sum, affine(key, procs[i], at));
  return sum;
}
std::vector<Affine> affines(Word key, std::uint32_t proc, std::size_t n) {
  std::vector<Affine> all(n);
  for (std::size_t at = 0; at < n; ++at) all[at] = affine(key, proc, at);
  return all;
}

void expect_members(const team& t, const Procs& procs) {
  ASSERT_TRUE(t);
  ASSERT_EQ(t.size(), procs.size());
  EXPECT_EQ(t.proc(t.rank()), my_proc());
  for (std::uint32_t rank = 0; rank < procs.size(); ++rank) EXPECT_EQ(t.proc(rank), procs[rank]);
  for (std::uint32_t proc = 0; proc < splitc::procs() + 2; ++proc) {
    const auto at = std::ranges::find(procs, proc);
    EXPECT_EQ(t.contains(proc), at != procs.end());
    EXPECT_EQ(t.rank_of(proc).value_or(~0u),
              at == procs.end() ? ~0u : static_cast<std::uint32_t>(at - procs.begin()));
  }
}

void check_values(const team& t, const Procs& procs, Word key) {
  const std::uint32_t me = my_proc();
  const std::size_t n = procs.size();
  const std::uint32_t root = key % n;
  t.barrier();
  EXPECT_EQ(t.all_bcast(word(key, me), root), word(key, procs[root]));
  EXPECT_EQ(t.all_reduce(affine(key, me), then), fold(key, procs, n));
  EXPECT_EQ(t.all_reduce_to_one(affine(key, me), then),
            t.rank() == 0 ? fold(key, procs, n) : affine(key, me));
  EXPECT_EQ(t.all_scan(affine(key, me), then), fold(key, procs, t.rank() + 1));
  EXPECT_EQ(t.all_exscan(affine(key, me), then, {3, 4}),
            t.rank() == 0 ? (Affine{3, 4}) : fold(key, procs, t.rank()));
  std::vector<Word> all;
  for (const std::uint32_t proc : procs) all.push_back(word(key, proc));
  EXPECT_EQ(t.all_gather(word(key, me)), all);
  EXPECT_EQ(t.all_gather_to_one(word(key, me)), t.rank() == 0 ? all : std::vector<Word>());
  EXPECT_EQ(t.all_reduce(word(key, me), std::plus()), std::accumulate(all.begin(), all.end(), 0u));
  EXPECT_EQ(t.all_scan(word(key, me), maximum()),
            *std::max_element(all.begin(), all.begin() + t.rank() + 1));
  EXPECT_EQ(t.all_exscan(word(key, me), std::bit_xor(), 0),
            std::accumulate(all.begin(), all.begin() + t.rank(), 0u, std::bit_xor<>()));
  std::array<Word, 4000> large{};
  large.back() = me;
  EXPECT_EQ(t.all_bcast(large, root).back(), procs[root]);
  EXPECT_EQ(t.all_gather(large).back().back(), procs.back());
}

void check_reduction(const team& t, const Procs& procs, Word key, std::size_t n) {
  std::vector<Affine> mine = affines(key, my_proc(), n), sums(n);
  const bool in_place = key % 2 == 0;
  t.all_reduce(std::span<const Affine>(mine), std::span(in_place ? mine : sums), then);
  for (std::size_t at = 0; at < n; ++at) {
    ASSERT_EQ((in_place ? mine : sums)[at], fold(key, procs, procs.size(), at));
  }
}

std::vector<Word> words(Word key, std::uint32_t proc, std::size_t n) {
  std::vector<Word> all(n);
  for (std::size_t at = 0; at < n; ++at) all[at] = word(key, proc, at);
  return all;
}

void check_spans(const team& t, const Procs& procs, Word key, std::size_t n) {
  const std::uint32_t me = my_proc();
  const auto count = static_cast<std::uint32_t>(procs.size());
  const std::uint32_t root = key % count;
  std::vector<Word> data = words(key, me, n);
  t.all_bcast(std::span(data), root);
  EXPECT_EQ(data, words(key, procs[root], n));

  const std::vector<Word> mine = words(key, me, n);
  std::vector<Word> all(n * count), expected;
  for (const std::uint32_t proc : procs) {
    const std::vector<Word> theirs = words(key, proc, n);
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  t.all_gather(std::span(mine), std::span(all));
  EXPECT_EQ(all, expected);
  std::ranges::fill(all, 7u);
  t.all_gather_to_one(std::span(mine), std::span(all));
  EXPECT_EQ(all, t.rank() == 0 ? expected : std::vector<Word>(all.size(), 7u));

  const std::vector<Word> to = words(key, me, n * count);
  t.all_to_all(std::span(to), std::span(all));
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    for (std::size_t at = 0; at < n; ++at) {
      ASSERT_EQ(all[rank * n + at], word(key, procs[rank], t.rank() * n + at));
    }
  }

  // Part p of rank r has (r + 2 p) mod 4 times n elements.
  std::vector<std::size_t> counts;
  for (std::uint32_t p = 0; p < count; ++p) counts.push_back((t.rank() + 2 * p) % 4 * n);
  const std::vector<Word> parts =
      words(key, me, std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  const auto received = t.all_to_all_varying(std::span(parts), std::span(counts));
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    std::size_t begin = 0;
    for (std::uint32_t p = 0; p < t.rank(); ++p) begin += (rank + 2 * p) % 4 * n;
    ASSERT_EQ(received.of(rank).size(), (rank + 2 * t.rank()) % 4 * n);
    for (std::size_t at = 0; at < received.of(rank).size(); ++at) {
      ASSERT_EQ(received.of(rank)[at], word(key, procs[rank], begin + at));
    }
  }
  std::vector<Word> into(received.all().size());
  std::vector<std::size_t> into_counts(count);
  ASSERT_EQ(t.all_to_all_varying(parts, counts, into, into_counts), into.size());
  ASSERT_EQ(into, received.all());
  ASSERT_EQ(into_counts[count - 1], received.of(count - 1).size());
}

// The teams that a split makes of the processes in `from`: of each colour, its members by rank.
struct Split {
  std::vector<std::int64_t> colours, keys;  // by rank in `from`

  Split(const Procs& from, std::mt19937_64& random) {
    const auto some = static_cast<std::int64_t>(1 + random() % 3);
    for (std::size_t i = 0; i < from.size(); ++i) {
      colours.push_back(static_cast<std::int64_t>(random() % (some + 1)) - 1);
      keys.push_back(static_cast<std::int64_t>(random() % 4) - 2);
    }
  }
  Procs members(const Procs& from, std::int64_t colour) const {
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (colours[i] == colour) ranks.push_back(i);
    }
    std::ranges::sort(ranks, [&](std::size_t a, std::size_t b) {
      return std::pair(keys[a], a) < std::pair(keys[b], b);
    });
    Procs procs;
    for (const std::size_t rank : ranks) procs.push_back(from[rank]);
    return procs;
  }
};

Procs everybody() {
  Procs all(procs());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

TEST(Team, world_and_node_have_their_processes_in_order) {
  expect_members(team::world(), everybody());
  Procs near;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (!test::is_far(proc)) near.push_back(proc);
  }
  expect_members(team::node(), near);
  check_values(team::world(), everybody(), 11);
  check_values(team::node(), near, 12);
  EXPECT_EQ(team::world(), team::world());
  EXPECT_FALSE(team::world() == team::node());
  EXPECT_FALSE(team());
}

TEST(Team, nested_random_splits_have_the_members_and_results_of_the_oracle) {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 6; ++i) {
    team t = team::world();
    Procs members = everybody();
    std::mt19937_64 choices(random());
    for (int depth = 0; depth < 3; ++depth) {
      const Split split(members, choices);
      const std::int64_t colour = split.colours[t.rank()];
      const team part = t.split(colour, split.keys[t.rank()]);
      if (colour < 0) {
        EXPECT_FALSE(part);
        break;
      }
      t = part;
      members = split.members(members, colour);
      expect_members(t, members);
      choices.seed(members.front() + 100u * static_cast<unsigned>(i) + test::seed());
      check_values(t, members, static_cast<Word>(choices()));
    }
  }
}

TEST(Team, spans_of_all_sizes_are_moved_as_by_the_oracle) {
  std::mt19937_64 random(test::seed() + 1);
  const Procs all = everybody();
  constexpr std::size_t kSizes[] = {0, 1, 3, 200, 256, 257, 1025, 5000, 40000};
  for (const std::size_t size : kSizes) {
    const std::size_t n = std::min(size, (std::size_t{1} << 18) / procs());
    const Split split(all, random);
    const team part = team::world().split(split.colours[my_proc()], split.keys[my_proc()]);
    const auto key = static_cast<Word>(random());
    if (part) {
      const Procs members = split.members(all, split.colours[my_proc()]);
      check_spans(part, members, key, n);
      check_reduction(part, members, key, n);
      check_reduction(part, members, key + 1, n);
    }
    check_spans(team::world(), all, key, n);
    check_reduction(team::world(), all, key, n);
  }
}

TEST(Team, select_takes_those_that_are_listed_in_that_order) {
  Procs backwards = everybody();
  std::ranges::reverse(backwards);
  expect_members(team::world().select(backwards), backwards);
  const Procs ends = procs() > 1 ? Procs{procs() - 1, 0} : Procs{0};
  const team t = team::world().select(ends);
  const bool is_in = std::ranges::find(ends, my_proc()) != ends.end();
  ASSERT_EQ(static_cast<bool>(t), is_in);
  if (is_in) {
    expect_members(t, ends);
    check_values(t, ends, 5);
  }
  test::expect_error([] { team::world().select(std::array{procs()}); },
                     {"team::select: there is no rank " + std::to_string(procs())});
  test::expect_error([] { team::world().select(std::array{0u, 0u}); }, {"rank 0 is listed twice"});
}

TEST(Team, a_list_that_one_member_has_wrong_is_an_error_of_all_and_the_team_goes_on) {
  const team t = team::world();
  const std::uint32_t last = procs() - 1;
  const auto all_refuse = [&](const Procs& list, std::initializer_list<std::string> parts) {
    test::expect_error([&] { t.select(list); }, parts);
    EXPECT_EQ(t.all_reduce(1u, std::plus()), procs());
  };
  const std::string of_last = "the list of rank " + std::to_string(last);
  all_refuse(my_proc() == last ? Procs{procs()} : Procs{},
             {"team::select: there is no rank " + std::to_string(procs()), of_last});
  all_refuse(my_proc() == last ? Procs{last, last} : Procs{}, {"is listed twice, on " + of_last});
  if (procs() < 2) return;
  // Rank 1 leaves out rank 0, which counts on it; has it in another order; says nothing.
  for (const Procs& other : {Procs{1}, Procs{1, 0}, Procs{}}) {
    all_refuse(my_proc() == 0   ? Procs{0, 1}
               : my_proc() == 1 ? other
                                : Procs{my_proc()},
               {"team::select: the members on the list of rank 0, of 2 ranks, have not passed the "
                "same"});
  }
}

// Started calls of many teams, each process in an order of its own; and of the job among them.
TEST(Team, overlapping_teams_may_be_started_and_waited_for_in_different_orders) {
  std::mt19937_64 random(test::seed() + 2);  // the same everywhere
  std::mt19937_64 own(test::seed() + 1000 * my_proc());
  const Procs all = everybody();
  struct Part {
    team t;
    Procs members;
  };
  std::vector<Part> parts;
  for (int i = 0; i < 6; ++i) {
    const Split split(all, random);
    const std::int64_t colour = split.colours[my_proc()];
    team t = team::world().split(colour, split.keys[my_proc()]);
    if (t) parts.push_back({t, split.members(all, colour)});
  }
  parts.push_back({team::world(), all});
  for (int turn = 0; turn < test::times(20, 8); ++turn) {
    struct Call {
      const Part* part;
      std::size_t n;
      std::vector<Affine> mine, sums;
      started<> reduction;
      started<Affine> sum;
      started<std::vector<Word>> words;
      started<Word> root;
      started<> barrier;
    };
    constexpr std::size_t kSizes[] = {1, 100, 3000};
    const std::size_t n = kSizes[random() % 3];
    const auto key = static_cast<Word>(random());
    std::ranges::shuffle(parts, own);
    std::vector<Call> calls;
    auto of_job = start_all_reduce(1u, std::plus<>());
    for (const Part& part : parts) {
      std::vector<Affine> mine = affines(key, my_proc(), n), sums(n);
      auto reduction = part.t.start_all_reduce(std::span(mine), std::span(sums), then);
      auto sum = part.t.start_all_reduce(affine(key, my_proc()), then);
      auto words = part.t.start_all_gather(word(key, my_proc()));
      auto root = part.t.start_all_bcast(word(key, my_proc()), key % part.t.size());
      calls.push_back({&part, n, std::move(mine), std::move(sums), std::move(reduction),
                       std::move(sum), std::move(words), std::move(root), part.t.start_barrier()});
    }
    if (turn % 4 == 0) {
      EXPECT_EQ(all_reduce(1u, std::plus()), procs());
    }
    std::ranges::shuffle(calls, own);
    for (Call& call : calls) {
      const Procs& members = call.part->members;
      if (own() % 2 == 0) call.barrier.wait();
      EXPECT_EQ(call.sum.wait(), fold(key, members, members.size()));
      EXPECT_EQ(call.words.wait().back(), word(key, members.back()));
      EXPECT_EQ(call.root.wait(), word(key, members[key % members.size()]));
      call.reduction.wait();
      for (std::size_t at = 0; at < n; ++at) {
        ASSERT_EQ(call.sums[at], fold(key, members, members.size(), at));
      }
    }
    EXPECT_EQ(of_job.wait(), procs());
  }
}

TEST(Team, started_spans_end_in_polls_alone) {
  const team t = team::world();
  const std::size_t n = 20000;
  std::vector<Word> data = words(1, my_proc(), n), all(n * procs()), from(n * procs());
  const std::vector<Word> mine = words(2, my_proc(), n), to = words(3, my_proc(), n * procs());
  auto bcast = t.start_all_bcast(std::span(data), procs() - 1);
  auto gather = t.start_all_gather(std::span(mine), std::span(all));
  auto swap = t.start_all_to_all(std::span(to), std::span(from));
  while (!swap.ready()) poll();
  EXPECT_TRUE(bcast.ready() && gather.ready());
  bcast.wait();
  gather.wait();
  swap.wait();
  EXPECT_EQ(data, words(1, procs() - 1, n));
  EXPECT_EQ(all.back(), word(2, procs() - 1, n - 1));
  EXPECT_EQ(from.back(), word(3, procs() - 1, (my_proc() + 1) * n - 1));
}

// What one member writes before is there after it for the others.
TEST(Team, barrier_makes_writes_visible) {
  const spread_array<Word> told(procs());
  const team half = team::world().split(my_proc() % 2);
  for (Word turn = 1; turn < 200; ++turn) {
    const std::uint32_t next = half.proc((half.rank() + 1) % half.size());
    told[next] = turn;
    half.barrier();
    ASSERT_EQ(told.mine()[0], turn);
    half.barrier();
  }
  barrier();
}

TEST(Team, goes_on_between_the_halves_of_a_barrier_of_all_and_beside_remote_calls) {
  dist_object<long> count(0);
  const team t = team::world().split(0, -static_cast<std::int64_t>(my_proc()));
  barrier_notify();
  EXPECT_EQ(t.all_reduce(1u, std::plus()), procs());
  barrier_wait();
  for (int i = 0; i < 100; ++i) {
    rpc_ff((my_proc() + 1) % procs(), [](long& n) { ++n; }, count);
    auto done = t.start_barrier();
    t.all_scan(i, std::plus());
  }
  quiesce();
  EXPECT_EQ(*count, 100);
  barrier();
}

TEST(Team, thousands_of_teams_leave_nothing_behind) {
  const auto boxes = [] { return detail::Groups::of_world().mail().inboxes(); };
  team::node();
  team::world().barrier();
  const std::size_t before = boxes();
  const int count = test::times(1000, 50);
  for (int i = 0; i < count; ++i) {
    team t = team::world().split((my_proc() + static_cast<std::uint32_t>(i)) % 2, 0);
    EXPECT_GE(t.all_reduce(1u, std::plus()), 1u);
    if (i % 3 == 0) t.start_barrier();  // keeps it until it has ended
  }
  team::world().barrier();
  while (boxes() > before) poll();
  EXPECT_EQ(boxes(), before);
}

}  // namespace
