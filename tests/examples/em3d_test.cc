// em3d: every version against the serial sweep.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/examples/example.h"

namespace examples::test::em3d {
namespace {

using am::test::lines_of;

const Words kVersions{"simple", "bundle", "unroll", "get", "put", "store", "bulk", "channel"};

class Em3d : public ::testing::TestWithParam<int> {
 protected:
  // Expects one line for each of `versions`, which says that it was right.
  void expect_equal(const Words& arguments, const Words& versions = kVersions) {
    const auto result = run(GetParam(), "em3d", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), versions.size() + 2) << result.out;  // behind two of heading
    for (std::size_t i = 0; i < versions.size(); ++i) {
      EXPECT_TRUE(lines[i + 2].starts_with(versions[i] + " ")) << lines[i + 2];
      EXPECT_TRUE(lines[i + 2].ends_with("  equal to the serial sweep")) << lines[i + 2];
    }
  }
};

TEST_P(Em3d, has_eight_versions_that_agree) {
  expect_equal({"--size", "100", "--degree", "10", "--steps", "10"});
}

TEST_P(Em3d, agrees_when_no_edge_is_remote) {
  expect_equal({"--size", "50", "--remote", "0", "--steps", "5"});
}

TEST_P(Em3d, agrees_when_every_edge_is_remote) {
  expect_equal({"--size", "50", "--remote", "100", "--steps", "5"});
}

TEST_P(Em3d, agrees_on_the_smallest_graph) {
  expect_equal({"--size", "1", "--degree", "1", "--steps", "1"});
}

// The unrolled loop does four edges a turn.
TEST_P(Em3d, agrees_for_every_remainder_of_the_degree) {
  for (const char* degree : {"3", "5", "6", "8"}) {
    expect_equal({"--size", "20", "--degree", degree, "--steps", "3", "--version", "unroll"},
                 {"unroll"});
  }
}

TEST_P(Em3d, runs_the_version_that_is_asked_for) {
  for (const std::string& version : kVersions) {
    expect_equal({"--size", "20", "--steps", "3", "--seed", "42", "--version", version}, {version});
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, Em3d, ::testing::ValuesIn(kProcs));

class Em3dAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(Em3dAcrossNodes, has_eight_versions_that_agree) {
  const auto result = run(GetParam(), "em3d", {"--size", "50", "--degree", "10", "--steps", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto equal = [](const std::string& line) {
    return line.ends_with("  equal to the serial sweep");
  };
  EXPECT_EQ(std::ranges::count_if(lines_of(result.out), equal), std::ssize(kVersions))
      << result.out;
}

INSTANTIATE_TEST_SUITE_P(Nodes, Em3dAcrossNodes, ::testing::ValuesIn(shapes_across_nodes()));

// VERSION,SECONDS,CHECKSUM
TEST(Em3d, csv_shows_one_checksum_of_each_graph) {
  const auto checksums = [](const Words& more) {
    Words arguments{"--csv", "--size", "30", "--degree", "5", "--steps", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto lines = lines_of(run(3, "em3d", arguments).out);
    EXPECT_EQ(lines.size(), kVersions.size());
    Words found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_TRUE(lines[i].starts_with(kVersions[i] + ",")) << lines[i];
      EXPECT_EQ(std::ranges::count(lines[i], ','), 2) << lines[i];
      found.push_back(lines[i].substr(lines[i].rfind(',') + 1));
      EXPECT_EQ(found.back(), found.front());
    }
    return found;
  };
  const Words first = checksums({});
  EXPECT_EQ(checksums({"--seed", "1"}), first);
  EXPECT_NE(checksums({"--seed", "2"}), first);
}

TEST(Em3d, refuses_what_makes_no_sense) {
  expect_refused("em3d", {"--size", "0"}, "--size");
  expect_refused("em3d", {"--size", "-3"}, "--size");
  expect_refused("em3d", {"--degree", "many"}, "--degree");
  expect_refused("em3d", {"--degree", "0"}, "--degree");
  expect_refused("em3d", {"--remote", "101"}, "--remote");
  expect_refused("em3d", {"--steps", "0"}, "--steps");
  expect_refused("em3d", {"--seed", "-1"}, "--seed");
  expect_refused("em3d", {"--version", "fastest"}, "--version");
  expect_refused("em3d", {"--fast"}, "--fast");
  expect_refused("em3d", {"--steps"}, "--steps");
}

TEST(Em3d, refuses_graphs_that_do_not_fit) {
  expect_refused("em3d", {"--size", "10000000", "--degree", "100"}, "--degree");
  const auto result = am::test::run({"env", "SPLITC_SEGMENT=1M", "tools/splitcrun/splitcrun", "-n",
                                     "2", "examples/em3d", "--size", "100000", "--degree", "1"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("SPLITC_SEGMENT"), std::string::npos) << result.err;
}

TEST(Em3d, explains_itself_once) {
  const auto result = run(3, "em3d", {"--help"});
  EXPECT_EQ(result.exit_code, 0);
  const std::size_t first = result.out.find("--remote");
  EXPECT_NE(first, std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("--remote", first + 1), std::string::npos) << result.out;
}

}  // namespace
}  // namespace examples::test::em3d
