#include "am/collective/cost.h"

#include <gtest/gtest.h>

namespace am {
namespace {

constexpr LogGP kTcp{.latency_ns = 10'000, .overhead_ns = 6'500, .byte_ns = 0.15};

CollectiveShape shape(std::uint32_t procs, std::uint32_t nodes, double crowding = 1) {
  return {.procs = procs,
          .nodes = nodes,
          .most_near = (procs + nodes - 1) / nodes,
          .crowding = crowding};
}

TEST(Crossovers, of_one_node_do_not_depend_on_the_network) {
  const LogGP other{.latency_ns = 1e6, .overhead_ns = 1, .byte_ns = 100};
  const Crossovers a = cheapest(shape(8, 1), kTcp), b = cheapest(shape(8, 1), other);
  EXPECT_EQ(a.broadcast, b.broadcast);
  EXPECT_EQ(a.gather, b.gather);
  EXPECT_EQ(a.reduce, b.reduce);
  EXPECT_EQ(a.all_to_all, b.all_to_all);
}

// What goes directly takes a barrier more, whose cost is the latency's; unless there is so little
// room that boards take several.
TEST(Crossovers, grow_with_the_latency_of_the_network) {
  const LogGP slow{.latency_ns = 1e6, .overhead_ns = 6'500, .byte_ns = 0.15};
  for (const std::uint32_t nodes : {2, 4, 16}) {
    CollectiveShape roomy = shape(nodes, nodes);
    roomy.board = 1 << 30;
    const Crossovers near = cheapest(roomy, kTcp);
    const Crossovers far = cheapest(roomy, slow);
    EXPECT_LT(near.broadcast, far.broadcast) << nodes;
    EXPECT_LT(near.gather, far.gather) << nodes;
    EXPECT_LT(near.reduce, far.reduce) << nodes;
    EXPECT_LT(near.all_to_all, far.all_to_all) << nodes;
  }
}

// To combine everything everybody gets P times as much as by slices.
TEST(Crossovers, of_reductions_fall_with_the_processes) {
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint32_t nodes : {2, 4, 8, 16, 32}) {
    const std::uint64_t now = cheapest(shape(nodes, nodes, nodes / 2.0), kTcp).reduce;
    EXPECT_LT(now, before) << nodes;
    EXPECT_GT(now, 512u) << nodes;
    before = now;
  }
}

TEST(Crossovers, of_small_boards_leave_large_calls_to_other_ways) {
  CollectiveShape small = shape(4, 4);
  small.board = 4096;
  EXPECT_LT(cheapest(small, kTcp).broadcast, cheapest(shape(4, 4), kTcp).broadcast);
  EXPECT_LT(cheapest(small, kTcp).gather, cheapest(shape(4, 4), kTcp).gather);
}

TEST(Crossovers, are_those_that_the_user_has_chosen_and_else_the_models) {
  const Crossovers model = cheapest(shape(4, 2), kTcp);
  ChosenCrossovers choice;
  choice.gather = 7;
  choice.reduce_slices = 0;
  const Crossovers some = chosen(model, choice);
  EXPECT_EQ(some.gather, 7u);
  EXPECT_EQ(some.reduce_slices, 0u);
  EXPECT_EQ(some.broadcast, model.broadcast);
  EXPECT_EQ(some.reduce, model.reduce);
  EXPECT_EQ(some.all_to_all, model.all_to_all);
}

}  // namespace
}  // namespace am
