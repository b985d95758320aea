// fft: every way to transpose against sums that follow the definition, and against one another.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/examples/example.h"

namespace examples::test::fft {
namespace {

using am::test::lines_of;

const Words kVersions{"store", "all_to_all", "bulk_store"};

// The column before the verdict.
std::string checksum_in(const std::string& line) {
  const std::size_t end = line.find("  right");
  return end == std::string::npos || end < 16 ? "none in: " + line : line.substr(end - 16, 16);
}

class Fft : public ::testing::TestWithParam<int> {
 protected:
  // Expects one line for each of `versions`, which says that it was right; returns the checksum.
  std::string expect_right(const Words& arguments, const Words& versions = kVersions) {
    const auto result = run(GetParam(), "fft", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto lines = lines_of(result.out);
    if (lines.size() != versions.size() + 3) {  // behind three of heading
      ADD_FAILURE() << result.out;
      return {};
    }
    for (std::size_t i = 0; i < versions.size(); ++i) {
      EXPECT_TRUE(lines[i + 3].starts_with(versions[i] + " ")) << lines[i + 3];
      EXPECT_TRUE(lines[i + 3].ends_with(i == 0 ? "  right" : "  right, the same bits"))
          << lines[i + 3];
    }
    return checksum_in(lines.back());
  }
};

// Fewer rows than processes, and fewer points.
TEST_P(Fft, transforms_the_fewest_points) {
  for (const char* points : {"1", "2", "4", "8", "16", "32"}) {
    expect_right({"--points", points});
  }
}

// Every frequency is compared.
TEST_P(Fft, has_three_versions_that_follow_the_definition) {
  expect_right({"--points", "512"});
  expect_right({"--points", "1024"});
}

TEST_P(Fft, has_three_versions_that_agree_on_more_points) {
  expect_right({"--points", "16384", "--repetitions", "1"});
}

TEST_P(Fft, gives_the_same_bits_whoever_has_the_rows) {
  static std::string first;
  const std::string checksum = expect_right({"--points", "2048", "--repetitions", "1"});
  if (first.empty()) first = checksum;
  EXPECT_EQ(checksum, first);
}

TEST_P(Fft, runs_the_version_that_is_asked_for) {
  for (const std::string& version : kVersions) {
    expect_right({"--points", "64", "--seed", "42", "--version", version}, {version});
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, Fft, ::testing::ValuesIn(kProcs));
INSTANTIATE_TEST_SUITE_P(Four, Fft, ::testing::Values(4));

class FftAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(FftAcrossNodes, has_three_versions_that_agree) {
  const auto result = run(GetParam(), "fft", {"--points", "1024", "--repetitions", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(std::ranges::count_if(
                lines_of(result.out),
                [](const std::string& line) { return line.find("  right") != std::string::npos; }),
            std::ssize(kVersions))
      << result.out;
}

INSTANTIATE_TEST_SUITE_P(Nodes, FftAcrossNodes, ::testing::ValuesIn(shapes_across_nodes()));

TEST(Fft, refuses_what_makes_no_sense) {
  expect_refused("fft", {"--points", "0"}, "--points");
  expect_refused("fft", {"--points", "-4"}, "--points");
  expect_refused("fft", {"--points", "1000"},
                 "fft: --points 1000 is not a power of two; 512 and 1024 are the nearest");
  expect_refused("fft", {"--version", "fastest"}, "--version");
  expect_refused("fft", {"--repetitions", "0"}, "--repetitions");
  expect_refused("fft", {"--seed", "-1"}, "--seed");
}

TEST(Fft, refuses_points_that_do_not_fit) {
  const auto result = am::test::run({"env", "SPLITC_SEGMENT=1M", "tools/splitcrun/splitcrun", "-n",
                                     "2", "examples/fft", "--points", "1048576"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace examples::test::fft
