#include "examples/containers/work_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using containers::work_queue;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 29)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 32);
}

// A tree that a node's state determines: most have no children, some have four, so that subtrees
// differ much.
struct Node {
  std::uint64_t state;
  std::uint32_t depth;
};
void for_each_child(const Node& node, const std::function<void(const Node&)>& f) {
  const std::uint64_t count = node.depth == 0 ? 100 : mix(node.state) % 1000 < 240 ? 4 : 0;
  for (std::uint64_t i = 1; i <= count; ++i) f({mix(node.state + i * 77), node.depth + 1});
}

// How many nodes there are, and a sum of all states.
struct Sum {
  std::uint64_t nodes = 0;
  std::uint64_t states = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
};
Sum serial_sum(const Node& root) {
  Sum sum;
  std::vector<Node> open{root};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    ++sum.nodes;
    sum.states += node.state;
    for_each_child(node, [&](const Node& child) { open.push_back(child); });
  }
  return sum;
}
// Of all processes; counts in `mine` those of this one.
Sum sum_of_all(work_queue<Node>& queue, Sum& mine) {
  mine = {};
  while (const std::optional<Node> node = queue.next()) {
    ++mine.nodes;
    mine.states += node->state;
    for_each_child(*node, [&](const Node& child) { queue.push(child); });
  }
  return {all_reduce(mine.nodes, std::plus()), all_reduce(mine.states, std::plus())};
}

TEST(WorkQueue, does_every_task_of_an_unbalanced_tree_once) {
  work_queue<Node> queue(test::seed());
  for (std::uint64_t round = 0; round < 5; ++round) {  // one queue for all
    const Node root{mix(test::seed() * 10 + round), 0};
    on_proc(static_cast<std::uint32_t>(round % procs()), [&] { queue.push(root); });
    Sum mine;
    const Sum all = sum_of_all(queue, mine);
    EXPECT_EQ(all, serial_sum(root)) << "tree " << root.state;
  }
}

TEST(WorkQueue, without_tasks_is_at_its_end) {
  work_queue<int> queue;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(queue.next(), std::nullopt);
}

// One task at a time exists, always in another place: nobody may take the others' idleness for the
// end.
TEST(WorkQueue, waits_for_a_task_that_makes_another_at_last) {
  work_queue<int> queue;
  on_one([&] { queue.push(200); });
  std::uint64_t done = 0;
  while (const std::optional<int> left = queue.next()) {
    ++done;
    if (*left % 50 == 1) {  // the others go through several sums meanwhile
      const double begin = get_seconds();
      wait_until([&] { return get_seconds() - begin > 0.002; });
    }
    if (*left > 1) queue.push(*left - 1);
  }
  EXPECT_EQ(all_reduce(done, std::plus()), 200u);
}

// While process 0 is in its first task, it answers but takes no other.
TEST(WorkQueue, idle_processes_take_tasks_of_a_busy_one) {
  constexpr std::uint64_t kTasks = 64;
  spread_array<std::uint64_t> others(1);  // tasks that other processes have done
  work_queue<int> queue;
  on_one([&] {
    for (std::uint64_t i = 0; i < kTasks; ++i) queue.push(0);
  });
  std::uint64_t done = 0;
  while (queue.next()) {
    ++done;
    if (my_proc() != 0) {
      fetch_and_add(others[0], 1u);
    } else if (done == 1 && procs() > 1) {
      wait_until([&] { return fetch_and_add(others[0], 0u) == kTasks - 1; });
    }
  }
  EXPECT_EQ(all_reduce(done, std::plus()), kTasks);
  if (procs() > 1) {
    EXPECT_LE(done, my_proc() == 0 ? 1 : kTasks);
    EXPECT_GE(all_reduce(queue.stolen(), std::plus()), kTasks - 1);
  }
}

}  // namespace
