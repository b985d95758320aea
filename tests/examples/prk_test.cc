// The Parallel Research Kernels, whose answers are known beforehand: each kernel in all its ways.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/examples/example.h"

namespace examples::test::prk {
namespace {

using am::test::lines_of;

struct Kernel {
  std::string name;
  Words options;
  std::ptrdiff_t ways;
};

// Sizes that no number of processes divides, but 1.
const Kernel kKernels[] = {
    {"nstream", {"--length", "101"}, 1},
    {"stencil", {"--size", "23", "--radius", "3"}, 2},
    {"stencil", {"--size", "19", "--radius", "2", "--shape", "grid"}, 2},
    {"transpose", {"--order", "43"}, 2},
    {"synch_p2p", {"--width", "17", "--height", "40"}, 2},
    {"synch_p2p", {"--width", "17", "--height", "110", "--group", "3"}, 2},
    {"sparse", {"--bits", "4", "--radius", "3"}, 3},
    {"random", {"--bits", "10", "--ahead", "16"}, 2},
    {"dgemm", {"--order", "29", "--panel", "5"}, 2},
    {"reduce", {"--length", "1013"}, 2},
    {"pic", {"--size", "22", "--particles", "300"}, 2},
    {"pic", {"--size", "22", "--particles", "900", "--density", "sinusoidal", "--k", "4"}, 2},
};

void expect_validated(const Shape& shape, const Kernel& kernel) {
  Words words{kernel.name, "--iterations", "3"};
  words.insert(words.end(), kernel.options.begin(), kernel.options.end());
  const auto result = run(shape, "prk", words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto validated = [](const std::string& line) { return line.ends_with("  validates"); };
  EXPECT_EQ(std::ranges::count_if(lines_of(result.out), validated), kernel.ways)
      << kernel.name << ": " << result.out;
}

class Prk : public ::testing::TestWithParam<Shape> {};

TEST_P(Prk, has_kernels_that_validate_in_all_ways) {
  for (const Kernel& kernel : kKernels) expect_validated(GetParam(), kernel);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Prk,
                         ::testing::Values(Shape{3}, Shape{3, 2}, Shape{1}, Shape{4, 2},
                                           Shape{2, 2}, Shape{6}, Shape{5, 3},
                                           Shape{3, 3, kDatagrams}, Shape{2, 2, kManyLost}));

// A stencil of one point and one of all, more rows in a slot than there are, the other densities.
TEST(PrkKernels, validate_at_their_limits) {
  const Kernel limits[] = {
      {"stencil", {"--size", "9", "--radius", "0"}, 2},
      {"stencil", {"--size", "9", "--radius", "4", "--shape", "grid"}, 2},
      {"synch_p2p", {"--width", "3", "--height", "2", "--group", "100"}, 2},
      {"pic", {"--size", "6", "--particles", "50", "--density", "linear", "--k", "7"}, 2},
      {"pic",
       {"--size", "6", "--particles", "50", "--density", "patch", "--patch", "1", "2", "4", "5"},
       2},
  };
  for (const Kernel& kernel : limits) expect_validated({2}, kernel);
}

TEST(PrkKernels, are_listed) {
  const auto result = run(2, "prk");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 10u) << result.out;
}

TEST(PrkKernels, refuse_what_makes_no_sense) {
  expect_refused("prk", {"branch"}, "prk: branch is no kernel; --help lists them");
  expect_refused("prk", {"stencil", "--size", "8", "--radius", "4"},
                 "prk stencil: --size 8 has no point for a stencil of --radius 4");
  expect_refused("prk", {"sparse", "--bits", "2", "--radius", "2"},
                 "prk sparse: a star of --radius 2 would meet itself on 2^2 points");
  expect_refused("prk", {"random", "--bits", "4"}, "prk random: 2^4 words with 4 updates each");
  expect_refused("prk", {"pic", "--size", "7"}, "prk pic: --size 7 is odd");
}

TEST(PrkKernels, refuse_sizes_with_nothing_for_some_process) {
  const std::pair<Words, std::string> refused[] = {
      {{"nstream", "--length", "2"}, "prk nstream: --length 2 has no element"},
      {{"transpose", "--order", "2"}, "prk transpose: --order 2 has no column"},
      {{"synch_p2p", "--width", "3"}, "prk synch_p2p: --width 3 is too small"},
      {{"stencil", "--size", "5"}, "prk stencil: --size 5 in 1 x 3 tiles gives some fewer than 2"},
  };
  for (const auto& [words, sentence] : refused) {
    const auto result = run(3, "prk", words);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_NE(result.err.find(sentence), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace examples::test::prk
