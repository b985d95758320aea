#include "benchmarks/scale_model.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "benchmarks/scale_collectives.h"

namespace bench {
namespace {

const std::vector<Size> kSizes{{2, 2},  {4, 2},   {8, 2},  {8, 8},
                               {16, 4}, {16, 16}, {64, 8}, {64, 64}};

template <class Function>
std::vector<Sample> samples_of(const Function& function) {
  std::vector<Sample> samples;
  samples.reserve(kSizes.size());
  for (const Size& size : kSizes) samples.push_back({size, function(size)});
  return samples;
}

TEST(ScaleModel, finds_what_the_figures_were_made_of) {
  const auto function = [](const Size& size) { return 1000 + 7 * size.near() + 0.25 * size.far(); };
  const Model model = fit({Term::kOne, Term::kNear, Term::kFar}, samples_of(function));
  EXPECT_NEAR(model.factors[0], 1000, 1e-3);
  EXPECT_NEAR(model.factors[1], 7, 1e-3);
  EXPECT_NEAR(model.factors[2], 0.25, 1e-3);
  const Size large{65536, 1024};
  EXPECT_NEAR(model.at(large), 1000 + 7 * 64 + 0.25 * (65536 - 64), 1);
}

TEST(ScaleModel, knows_how_deep_a_tree_of_nodes_is) {
  EXPECT_EQ(value_of(Term::kDepth, {64, 1}), 0);
  EXPECT_EQ(value_of(Term::kDepth, {64, 5}), 3);
  EXPECT_EQ(value_of(Term::kDepth, {65536, 1024}), 10);
}

TEST(ScaleModel, nothing_shrinks_with_the_job) {
  const auto falling = [](const Size& size) { return 100 - 0.5 * size.processes; };
  const Model model = fit({Term::kOne, Term::kProcesses}, samples_of(falling));
  EXPECT_GT(model.factors[0], 0);
  EXPECT_EQ(model.factors[1], 0);
}

TEST(ScaleModel, what_cannot_be_told_apart_does_no_harm) {
  const std::vector<Sample> few{{{2, 2}, 12}, {{4, 4}, 14}};
  const Model model = fit({Term::kOne, Term::kNear, Term::kFar}, few);  // near is 1 in both
  for (const Sample& sample : few) EXPECT_NEAR(model.at(sample.size), sample.value, 0.1);
  EXPECT_EQ(fit({Term::kOne}, {}).at({4, 2}), 0);
}

constexpr Network kNetwork{.overhead = 1, .latency = 10, .per_byte = 0.5};

// Of `kind`, from 8 bytes of each.
Prediction predicted(am::schedule::Operation kind, std::uint32_t nodes) {
  return predict({.operation = kind, .bytes = 8, .element_bytes = 8}, nodes, kNetwork);
}

TEST(ScaleCollectives, a_barrier_takes_a_message_for_each_doubling) {
  for (const std::uint32_t rounds : {1U, 3U, 6U}) {
    const Prediction one = predicted(am::schedule::Operation::kBarrier, 1U << rounds);
    EXPECT_EQ(one.us, rounds * (1 + 10 + 1));
    EXPECT_EQ(one.work_us, (1U << rounds) * one.us);
  }
}

// Down a tree each message carries 8 bytes; the root's last one leaves behind its others.
TEST(ScaleCollectives, a_broadcast_takes_as_long_as_the_way_to_the_last) {
  EXPECT_EQ(predicted(am::schedule::Operation::kBroadcast, 2).us, 1 + 4 + 10 + 1);
  EXPECT_EQ(predicted(am::schedule::Operation::kBroadcast, 8).us, 3 * (1 + 4 + 10 + 1));
  EXPECT_EQ(predicted(am::schedule::Operation::kBroadcast, 8).work_us, 7 * (1 + 4 + 10 + 1));
}

TEST(ScaleCollectives, of_little_connect_nobody_with_more_than_two_for_each_doubling) {
  for (const auto& [name, call, then] : predicted_calls()) {
    for (const std::uint32_t nodes : {2U, 8U, 64U, 1000U, 4096U}) {
      const auto most = 2 * std::bit_width(nodes - 1) + 2;
      EXPECT_LE(predict(call, nodes, kNetwork).connections, static_cast<std::uint32_t>(most))
          << name << " of " << nodes;
    }
  }
}

}  // namespace
}  // namespace bench
