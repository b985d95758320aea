// Small updates in blocks, against what every process can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"

namespace {

using namespace splitc;
using test::right;

template <std::size_t kBytes>
struct Block {
  std::array<std::uint8_t, kBytes> bytes;
};

// Counts of keys against what one process counts alone.
TEST(Aggregator, applies_every_update_once_where_it_was_sent) {
  using Map = std::unordered_map<std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t kUpdates = 5000;
  const auto key_of = [](std::uint32_t proc, std::uint64_t i) {
    return (i * 2654435761u + proc * 40503u) % 997;
  };
  dist_object<Map> counts;
  const std::uint64_t step = 1 + procs();
  auto counter =
      aggregate<std::uint64_t>(counts, [step](Map& mine, std::uint64_t key) { mine[key] += step; });
  for (int phase = 0; phase < 2; ++phase) {
    for (std::uint64_t i = 0; i < kUpdates; ++i) {
      const std::uint64_t key = key_of(my_proc(), i);
      counter.send(static_cast<std::uint32_t>(key % procs()), key);
    }
    counter.flush_all();
    Map expected;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      for (std::uint64_t i = 0; i < kUpdates; ++i) {
        const std::uint64_t key = key_of(proc, i);
        if (key % procs() == my_proc()) expected[key] += step * (static_cast<unsigned>(phase) + 1);
      }
    }
    EXPECT_EQ(*counts, expected);
    barrier();
  }
}

// From one byte to more than a block has.
template <std::size_t kBytes>
void expect_all_arrive() {
  dist_object<std::vector<Block<kBytes>>> arrived;
  auto all = aggregate<Block<kBytes>>(
      arrived, [](auto& mine, const Block<kBytes>& block) { mine.push_back(block); });
  Block<kBytes> block;
  block.bytes.fill(static_cast<std::uint8_t>(kBytes));
  for (int i = 0; i < 300; ++i) all.send(right(), block);
  all.flush();
  all.flush_all();
  ASSERT_EQ(arrived->size(), 300u);
  for (const auto& one : *arrived) ASSERT_EQ(one.bytes, block.bytes);
}
TEST(Aggregator, takes_updates_of_any_size) {
  expect_all_arrive<1>();
  expect_all_arrive<24>();
  expect_all_arrive<1000>();
  expect_all_arrive<5000>();
}

void add(std::uint64_t& mine, const int& x) { mine += static_cast<std::uint64_t>(x); }
TEST(Aggregator, applies_functions_as_well_as_lambdas) {
  dist_object<std::uint64_t> sum(0u);
  auto all = aggregate<int>(sum, &add);
  for (int i = 1; i <= 100; ++i) all.send(right(), i);
  all.flush_all();
  EXPECT_EQ(*sum, 5050u);
}

TEST(Aggregator, refuses_processes_that_are_not_there) {
  dist_object<int> object(0);
  auto all = aggregate<int>(object, [](int& mine, int x) { mine += x; });
  test::expect_error([&] { all.send(procs(), 1); }, {"aggregator::send: there is no process"});
}

TEST(Aggregator, keeps_what_stands_behind_an_update_that_throws) {
  dist_object<int> sum(0);
  auto all = aggregate<int>(sum, [](int& mine, int x) {
    if (x == 3) throw std::runtime_error("three");
    mine += x;
  });
  for (int i = 1; i <= 5; ++i) all.send(my_proc(), i);
  EXPECT_THROW(all.flush(), std::runtime_error);
  EXPECT_EQ(*sum, 3);
  all.send(my_proc(), 100);
  all.flush_all();
  EXPECT_EQ(*sum, 112);
}

std::function<void()> inside;  // what the next function does

TEST(Aggregator, refuses_what_its_function_sends_or_flushes) {
  dist_object<int> calls(0);
  auto all = aggregate<int>(calls, [](int& mine, int) {
    ++mine;
    inside();
  });
  const auto expect_refused = [&] {
    all.send(my_proc(), 1);
    test::expect_error([&] { all.flush(); }, {"aggregator::send", "a forwarder<Update>&"});
  };
  inside = [&] { all.send(my_proc(), 1); };
  expect_refused();
  inside = [&] {
    all.send(my_proc(), 2);
    all.flush();
  };
  expect_refused();
  inside = [] {};
  all.flush_all();
  EXPECT_EQ(*calls, 2);
}

// --- Updates that cause others

// Ring after ring, one update at a time.
TEST(Forwarding, of_one_update_goes_as_far_as_it_is_sent) {
  constexpr std::uint32_t kSteps = 3000;
  dist_object<std::uint64_t> seen(0u);
  auto walk = aggregate<std::uint32_t>(
      seen, [](std::uint64_t& mine, std::uint32_t left, forwarder<std::uint32_t>& forward) {
        mine += left;
        if (left > 1) forward.send(right(), left - 1);
      });
  if (my_proc() == 0) walk.send(0, kSteps);
  walk.flush_all();
  std::uint64_t expected = 0;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    if (step % procs() == my_proc()) expected += kSteps - step;
  }
  EXPECT_EQ(*seen, expected);
  barrier();
}

// Each update causes two, in all 2^kDepth - 1 for each first one.
TEST(Forwarding, of_trees_ends_when_all_have_been_applied) {
  constexpr std::uint32_t kDepth = 12;
  struct Node {
    std::uint32_t depth;
    std::uint32_t number;
  };
  dist_object<std::uint64_t> nodes(0u);
  auto grow =
      aggregate<Node>(nodes, [](std::uint64_t& mine, const Node& node, forwarder<Node>& forward) {
        ++mine;
        if (node.depth + 1 == kDepth) return;
        for (std::uint32_t side = 0; side < 2; ++side) {
          const std::uint32_t number = 2 * node.number + side;
          forward.send(number * 40503u / 7 % procs(), {node.depth + 1, number});
        }
      });
  for (std::uint64_t phase = 1; phase <= 3; ++phase) {
    grow.send(right(), {0, my_proc() + 1});
    grow.flush_all();
    EXPECT_EQ(all_reduce(*nodes, std::plus()), phase * procs() * ((1u << kDepth) - 1));
  }
}

// A graph of which every process knows all edges, and each has the distances of its vertices.
constexpr std::uint32_t kVertices = 4000, kDegree = 3;
std::uint32_t neighbour(std::uint32_t vertex, std::uint32_t i) {
  return (vertex * 2654435761u + i * 40503u * (vertex + 7)) % kVertices;
}
constexpr std::uint32_t kFar = ~0u;

TEST(Forwarding, finds_the_distances_in_a_graph_that_a_serial_search_finds) {
  struct Visit {
    std::uint32_t vertex;
    std::uint32_t distance;
  };
  using Distances = std::vector<std::uint32_t>;
  dist_object<Distances> distances(Distances(kVertices, kFar));
  auto visit =
      aggregate<Visit>(distances, [](Distances& mine, const Visit& v, forwarder<Visit>& forward) {
        if (mine[v.vertex] <= v.distance) return;
        mine[v.vertex] = v.distance;
        for (std::uint32_t i = 0; i < kDegree; ++i) {
          const std::uint32_t to = neighbour(v.vertex, i);
          forward.send(to % procs(), {to, v.distance + 1});
        }
      });
  if (my_proc() == procs() - 1) visit.send(0, {0, 0});
  visit.flush_all();

  Distances expected(kVertices, kFar);
  std::deque<std::uint32_t> queue{0};
  expected[0] = 0;
  while (!queue.empty()) {
    const std::uint32_t vertex = queue.front();
    queue.pop_front();
    for (std::uint32_t i = 0; i < kDegree; ++i) {
      const std::uint32_t to = neighbour(vertex, i);
      if (expected[to] != kFar) continue;
      expected[to] = expected[vertex] + 1;
      queue.push_back(to);
    }
  }
  for (std::uint32_t vertex = my_proc(); vertex < kVertices; vertex += procs()) {
    ASSERT_EQ((*distances)[vertex], expected[vertex]) << vertex;
  }
  barrier();
}

// More than all windows hold, from one function to one process and to itself.
TEST(Forwarding, keeps_what_finds_no_room_yet) {
  constexpr std::uint64_t kMany = 60'000;
  struct Update {
    std::uint64_t left;  // to be sent on
    std::uint64_t value;
  };
  dist_object<std::uint64_t> sum(0u);
  auto all = aggregate<Update>(
      sum, [](std::uint64_t& mine, const Update& update, forwarder<Update>& forward) {
        mine += update.value;
        for (std::uint64_t i = 1; i <= update.left; ++i) {
          forward.send(i % 3 == 0 ? my_proc() : right(), {0, i});
        }
      });
  all.send(right(), {kMany, 0});
  all.flush_all();
  EXPECT_EQ(all_reduce(*sum, std::plus()), procs() * (kMany * (kMany + 1) / 2));
}

// What is under way then is dropped, and nobody is asked for what has ended.
TEST(Forwarding, may_end_before_its_updates_do) {
  dist_object<std::uint64_t> sum(0u);
  constexpr std::uint32_t kChains = 40, kSteps = 30, kTimes = 20;
  for (std::uint32_t time = 0; time < kTimes; ++time) {
    auto walk = aggregate<std::uint32_t>(
        sum, [](std::uint64_t& mine, std::uint32_t left, forwarder<std::uint32_t>& forward) {
          ++mine;
          if (left > 1) forward.send(left % 2 == 0 ? right() : my_proc(), left - 1);
        });
    for (std::uint32_t chain = 0; chain < kChains; ++chain) walk.send(right(), kSteps);
    walk.flush();
  }
  barrier();
  EXPECT_LE(all_reduce(*sum, std::plus()), std::uint64_t{procs()} * kChains * kSteps * kTimes);
}

TEST(Forwarding, is_flushed_in_the_same_order_everywhere) {
  dist_object<int> sum(0);
  const auto add = [](int& mine, int update, forwarder<int>&) { mine += update; };
  auto first = aggregate<int>(sum, add);
  auto second = aggregate<int>(sum, add);
  first.send(right(), 1);
  second.send(right(), 10);
  if (procs() > 1) {
    auto& mine = my_proc() == 0 ? first : second;
    test::expect_error([&] { mine.flush_all(); },
                       {"aggregator::flush_all: another process flushes another aggregator",
                        "in the same order in every process"});
  }
  first.flush_all();
  second.flush_all();
  EXPECT_EQ(*sum, 11);
}

TEST(Forwarding, refuses_processes_that_are_not_there) {
  dist_object<int> object(0);
  auto all =
      aggregate<int>(object, [](int&, int, forwarder<int>& forward) { forward.send(procs(), 1); });
  all.send(my_proc(), 1);
  test::expect_error([&] { all.flush(); }, {"forwarder::send: there is no process"});
  all.flush_all();
}

}  // namespace
