#include "benchmarks/scale_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

const std::vector<Size> kSizes{{2, 2},  {4, 2},   {8, 2},  {8, 8},
                               {16, 4}, {16, 16}, {64, 8}, {64, 64}};

template <class Function>
std::vector<Sample> samples_of(const Function& function) {
  std::vector<Sample> samples;
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
  EXPECT_EQ(value_of(Term::kPackets, {16, 8}), 24);
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

}  // namespace
}  // namespace bench
