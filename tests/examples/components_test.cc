// components on graphs whose answer is known, and on the packages of this machine.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <regex>

#include "tests/examples/example.h"

namespace examples::test::components {
namespace {

constexpr const char* kEqual = "equal to the serial answer\n";

class Components : public ::testing::TestWithParam<int> {
 protected:
  void expect_answer(std::string_view graph, const std::string& answer) {
    const auto result = run(GetParam(), "components", {file_with(graph)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::regex time("\n" + std::to_string(GetParam()) + " processes, [0-9.]+ seconds\n");
    EXPECT_EQ(std::regex_replace(result.out, time, "\n"), answer + kEqual);
    EXPECT_TRUE(std::regex_search(result.out, time)) << result.out;
  }
};

TEST_P(Components, of_nothing_there_are_none) {
  expect_answer("", "0 vertices, 0 edges\n0 components, the largest of 0 vertices\n");
  expect_answer("# nothing\n\n", "0 vertices, 0 edges\n0 components, the largest of 0 vertices\n");
}

TEST_P(Components, of_single_vertices_are_as_many) {
  expect_answer("a a\nb b\nc c\n",
                "3 vertices, 0 edges\n3 components, the largest of 1 vertices\n");
}

TEST_P(Components, are_found_whatever_the_direction_of_the_edges) {
  expect_answer("a b\nc b\nd e\n",
                "5 vertices, 3 edges\n2 components, the largest of 3 vertices\n"
                "most depended upon:\n     2  b\n     1  e\n");
}

TEST_P(Components, count_an_edge_once_however_often_it_is_written) {
  expect_answer("a b\na  b\n\ta b",
                "2 vertices, 1 edges\n1 components, the largest of 2 vertices\n"
                "most depended upon:\n     1  b\n");
}

TEST_P(Components, name_the_ten_most_depended_upon_and_of_equal_ones_the_first_by_name) {
  std::string graph, top;
  for (char to = 'a'; to <= 'l'; ++to) {
    graph += std::string("x ") + to + "\n" + "y " + to + "\n";
    if (to <= 'i') top += std::string("     2  ") + to + "\n";
  }
  graph += "z l\n";
  expect_answer(graph,
                "15 vertices, 25 edges\n1 components, the largest of 15 vertices\n"
                "most depended upon:\n     3  l\n" +
                    top);
}

TEST_P(Components, of_a_long_chain_are_one) {
  std::string graph;
  for (int i = 0; i < 3000; ++i) {
    graph += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  }
  const auto result = run(GetParam(), "components", {file_with(graph)});
  EXPECT_TRUE(
      result.out.starts_with("3001 vertices, 3000 edges\n"
                             "1 components, the largest of 3001 vertices\n"))
      << result.out;
  EXPECT_TRUE(result.out.ends_with(kEqual)) << result.out;
}

std::string random_graph() {
  std::mt19937 random(11);
  std::string graph;
  for (int i = 0; i < 4000; ++i) {
    graph += std::to_string(random() % 5000) + " " + std::to_string(random() % 5000) + "\n";
  }
  return graph;
}

TEST_P(Components, of_a_random_graph_are_those_of_the_serial_answer) {
  const auto result = run(GetParam(), "components", {file_with(random_graph())});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.ends_with(kEqual)) << result.out;
}

// Alternatives, virtual packages, architectures, versions, a continued field, a package that is not
// installed, a dependency on itself, one that is unmet, and fields that do not count.
TEST_P(Components, of_packages_follow_the_rules_of_dpkg) {
  expect_answer(
      "Package: app\nStatus: install ok installed\nPre-Depends: libc:any (>= 2.3)\n"
      "Depends: gone (= 1) | mailer,\n editor [amd64], libc (<< 3)\nRecommends: lonely\n"
      "Description: Depends on much\n Depends: lonely\n"
      "\n"
      "Package: libc\nStatus: install ok installed\nProvides: libc-virtual (= 2.36), c\n"
      "Depends: libc-virtual\n"
      "\n"
      "Package: exim\nStatus: hold ok installed\nProvides: mailer\nDepends: c\n"
      "\n"
      "Package: postfix\nStatus: install ok installed\nProvides: mailer\nDepends: nowhere | gone\n"
      "\n"
      "Package: gone\nStatus: deinstall ok config-files\nDepends: lonely\n"
      "\n"
      "Package: lonely\nStatus: install ok installed\n"
      "\n"
      "Package: editor\nStatus: install ok installed\nDepends: libc | lonely",
      "6 packages, 5 dependencies and 1 unmet ones\n"
      "3 components, the largest of 4 packages\n"
      "most depended upon:\n     3  libc\n     1  editor\n     1  exim\n");
}

TEST_P(Components, of_the_packages_of_this_machine_are_those_of_the_serial_answer) {
  if (!std::filesystem::exists("/var/lib/dpkg/status")) GTEST_SKIP() << "no dpkg here";
  const auto result = run(GetParam(), "components");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(" packages, "), std::string::npos) << result.out;
  EXPECT_TRUE(result.out.ends_with(kEqual)) << result.out;
}

INSTANTIATE_TEST_SUITE_P(Processes, Components, ::testing::ValuesIn(kProcs));

class ComponentsAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(ComponentsAcrossNodes, of_a_random_graph_are_those_of_the_serial_answer) {
  const auto result = run(GetParam(), "components", {file_with(random_graph())});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.ends_with(kEqual)) << result.out;
}

INSTANTIATE_TEST_SUITE_P(Nodes, ComponentsAcrossNodes, ::testing::ValuesIn(few_shapes()));

TEST(Components, refuses_a_file_that_it_cannot_read) {
  expect_refused("components", {"/no/such/file"},
                 "/no/such/file cannot be read: No such file or directory");
  expect_refused("components", {"/"}, "/ cannot be read: Is a directory");
}

TEST(Components, refuses_what_is_no_graph) {
  expect_refused("components", {file_with("a b\n\na b c\n")}, "line 3 has 3 words");
  expect_refused("components", {file_with("a")}, "line 1 has 1 words");
}

TEST(Components, refuses_a_second_file) {
  expect_refused("components", {file_with("a b\n"), "another"}, "another");
}

}  // namespace
}  // namespace examples::test::components
