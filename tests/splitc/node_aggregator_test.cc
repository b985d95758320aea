// Updates gathered by nodes, against what every process can compute alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"

namespace {

using namespace splitc;

// Counts of keys against what one process counts alone; two phases, so that blocks are used again.
TEST(NodeAggregator, applies_every_update_once_where_it_was_sent) {
  using Map = std::unordered_map<std::uint64_t, std::uint64_t>;
  constexpr std::uint64_t kUpdates = 7000;
  const auto key_of = [](std::uint32_t proc, std::uint64_t i) {
    return (i * 2654435761u + proc * 40503u) % 997;
  };
  dist_object<Map> counts;
  auto counter = aggregate_by_node<std::uint64_t>(
      counts, [step = 1 + procs()](Map& mine, std::uint64_t key) { mine[key] += step; });
  for (std::uint64_t phase = 1; phase <= 2; ++phase) {
    for (std::uint64_t i = 0; i < kUpdates; ++i) {
      const std::uint64_t key = key_of(my_proc(), i);
      counter.send(static_cast<std::uint32_t>(key % procs()), key);
    }
    counter.flush_all();
    Map expected;
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      for (std::uint64_t i = 0; i < kUpdates; ++i) {
        const std::uint64_t key = key_of(proc, i);
        if (key % procs() == my_proc()) expected[key] += (1 + procs()) * phase;
      }
    }
    EXPECT_EQ(*counts, expected);
    barrier();
  }
}

// One process sends to all, and all to one: everything takes the same receivers.
TEST(NodeAggregator, delivers_from_one_to_all_and_from_all_to_one) {
  dist_object<std::vector<std::uint32_t>> arrived;
  auto all = aggregate_by_node<std::uint32_t>(
      arrived, [](auto& mine, std::uint32_t x) { mine.push_back(x); });
  constexpr std::uint32_t kEach = 3000;
  if (my_proc() == 0) {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      for (std::uint32_t proc = 0; proc < procs(); ++proc) all.send(proc, proc);
    }
  }
  all.flush_all();
  EXPECT_EQ(*arrived, std::vector<std::uint32_t>(kEach, my_proc()));
  arrived->clear();
  barrier();  // nobody sends before all have done that
  const std::uint32_t last = procs() - 1;
  for (std::uint32_t i = 0; i < kEach; ++i) all.send(last, i);
  all.flush_all();
  EXPECT_EQ(arrived->size(), my_proc() == last ? std::size_t{kEach} * procs() : 0);
}

struct Odd {
  std::array<std::uint8_t, 13> bytes;
};
void add_bytes(std::uint64_t& sum, const Odd& odd) {
  for (const std::uint8_t byte : odd.bytes) sum += byte;
}
TEST(NodeAggregator, takes_functions_and_updates_of_odd_sizes) {
  dist_object<std::uint64_t> sum(0u);
  auto all = aggregate_by_node<Odd>(sum, &add_bytes);
  Odd odd;
  odd.bytes.fill(3);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (int i = 0; i < 500; ++i) all.send(proc, odd);
  }
  all.flush_all();
  EXPECT_EQ(*sum, std::uint64_t{procs()} * 500 * 13 * 3);
}

TEST(NodeAggregator, refuses_processes_that_are_not_there) {
  dist_object<int> object(0);
  auto all = aggregate_by_node<int>(object, [](int& mine, int x) { mine += x; });
  test::expect_error([&] { all.send(procs(), 1); }, {"node_aggregator::send: there is no process"});
}

}  // namespace
