// page_rank on graphs whose ranks are known, and on the packages of this machine.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/examples/example.h"

namespace examples::test::page_rank {
namespace {

using am::test::lines_of;

constexpr const char* kVerified = "verified: all ranks together differ from the serial ones by ";

// Runs the program, expects that it has verified its ranks, and returns its list of the highest.
std::string highest(const Shape& shape, const Words& arguments) {
  const auto result = run(shape, "page_rank", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(kVerified), std::string::npos) << result.out;
  EXPECT_TRUE(result.out.ends_with("verified: their sum is 1.000000000000\n")) << result.out;
  const std::string heading = "highest ranks:\n";
  const std::size_t begin = result.out.find(heading);
  EXPECT_NE(begin, std::string::npos) << result.out;
  if (begin == std::string::npos) return "";
  const std::size_t first = begin + heading.size();
  return result.out.substr(first, result.out.find("verified") - first);
}

std::string random_graph() {
  std::mt19937 random(11);
  std::string graph;
  for (int i = 0; i < 2000; ++i) {
    graph += std::to_string(random() % 700) + " " + std::to_string(random() % 900) + "\n";
  }
  return graph;
}

class PageRank : public ::testing::TestWithParam<int> {};

TEST_P(PageRank, of_nothing_is_nothing) {
  const auto result = run(GetParam(), "page_rank", {file_with("# nothing\n")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("0 vertices, 0 edges, ")) << result.out;
  EXPECT_NE(result.out.find(kVerified), std::string::npos) << result.out;
}

// With damping d the ranks of a and b are 1 / (2 + d) and (1 + d) / (2 + d).
TEST_P(PageRank, flows_along_an_edge) {
  EXPECT_EQ(highest({GetParam()}, {file_with("a b\n")}), "0.64912281  b\n0.35087719  a\n");
  EXPECT_EQ(highest({GetParam()}, {file_with("a b\n"), "--damping", "0.5"}),
            "0.60000000  b\n0.40000000  a\n");
}

// Nobody follows an edge.
TEST_P(PageRank, is_the_same_for_all_without_damping) {
  EXPECT_EQ(highest({GetParam()}, {file_with("a b\nc b\nd b\n"), "--damping", "0"}),
            "0.25000000  a\n0.25000000  b\n0.25000000  c\n0.25000000  d\n");
}

TEST_P(PageRank, of_vertices_without_edges_is_the_same) {
  EXPECT_EQ(highest({GetParam()}, {file_with("b b\na a\n")}), "0.50000000  a\n0.50000000  b\n");
  EXPECT_EQ(highest({GetParam()}, {file_with("a a\n")}), "1.00000000  a\n");
}

TEST_P(PageRank, lists_ten_and_of_equal_ones_the_first_by_name) {
  std::string cycle, top;
  for (char from = 'a'; from <= 'l'; ++from) {
    cycle += std::string(1, from) + " " + (from == 'l' ? 'a' : char(from + 1)) + "\n";
    if (from <= 'j') top += std::string("0.08333333  ") + from + "\n";
  }
  EXPECT_EQ(highest({GetParam()}, {file_with(cycle)}), top);
}

// Whoever has the vertices, and in whatever order what flows to one is added up.
TEST_P(PageRank, does_not_depend_on_how_many_processes_there_are) {
  const std::string file = file_with(random_graph());
  const std::string top = highest({1}, {file});
  EXPECT_EQ(lines_of(top).size(), 10U) << top;
  EXPECT_EQ(highest({GetParam()}, {file}), top);
}

TEST_P(PageRank, of_the_packages_of_this_machine_is_that_of_the_serial_answer) {
  if (!std::filesystem::exists("/var/lib/dpkg/status")) GTEST_SKIP() << "no dpkg here";
  const auto result = run(GetParam(), "page_rank");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(" packages, "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(kVerified), std::string::npos) << result.out;
}

INSTANTIATE_TEST_SUITE_P(Processes, PageRank, ::testing::ValuesIn(kProcs));

class PageRankAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(PageRankAcrossNodes, is_that_of_one_process) {
  const std::string file = file_with(random_graph());
  static const std::string kTop = highest({1}, {file});
  EXPECT_EQ(highest(GetParam(), {file}), kTop);
}

INSTANTIATE_TEST_SUITE_P(Nodes, PageRankAcrossNodes, ::testing::ValuesIn(few_shapes()));

TEST(PageRank, fails_when_the_iterations_do_not_suffice) {
  for (const int procs : {1, 3}) {
    const auto result =
        run(procs, "page_rank", {file_with("a b\nb c\nc a\na c\n"), "--iterations", "2"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.out.find("NOT converged in 2 iterations"), std::string::npos) << result.out;
  }
}

TEST(PageRank, refuses_what_is_no_graph) {
  expect_refused("page_rank", {"/no/such/file"},
                 "/no/such/file cannot be read: No such file or directory");
  expect_refused("page_rank", {file_with("a b\n\na b c\n")}, "line 3 has 3 words");
}

TEST(PageRank, refuses_what_makes_no_sense) {
  expect_refused("page_rank", {"--damping", "1"}, "--damping");
  expect_refused("page_rank", {"--tolerance", "0"}, "--tolerance");
  expect_refused("page_rank", {"--iterations", "0"}, "--iterations");
  expect_refused("page_rank", {file_with("a b\n"), "another"}, "another");
}

}  // namespace
}  // namespace examples::test::page_rank
