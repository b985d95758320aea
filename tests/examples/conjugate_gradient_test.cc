// conjugate_gradient: every version against the serial solution, on grids and on matrices in files.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/examples/example.h"

namespace examples::test::conjugate_gradient {
namespace {

using am::test::lines_of;

const Words kVersions{"get", "bulk", "channel"};
constexpr const char* kFile = "examples/data/includes.mtx";
constexpr const char* kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
constexpr const char* kGeneral = "%%MatrixMarket matrix coordinate real general\n";

// Expects the heading, a line for each of `versions` that says that it was right, and then that the
// unknowns were verified.
void expect_solved(const Shape& shape, const Words& arguments, std::string_view heading,
                   const Words& versions = kVersions) {
  const auto result = run(shape, "conjugate_gradient", arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), versions.size() + 4) << result.out;
  EXPECT_NE(lines[0].find(heading), std::string::npos) << lines[0];
  for (std::size_t i = 0; i < versions.size(); ++i) {
    EXPECT_TRUE(lines[i + 3].starts_with(versions[i] + " ")) << lines[i + 3];
    EXPECT_TRUE(lines[i + 3].ends_with("  equal to the serial solution")) << lines[i + 3];
  }
  EXPECT_TRUE(lines.back().starts_with("verified: of the serial solution |b - A x| is "))
      << lines.back();
}

bool factorized(const Program::Result& result) {
  return result.out.find("dense Cholesky factorization") != std::string::npos;
}

class ConjugateGradient : public ::testing::TestWithParam<int> {};

TEST_P(ConjugateGradient, solves_the_equation_of_poisson_on_a_square) {
  expect_solved({GetParam()}, {"--size", "23"}, " 529 unknowns, 2553 entries, ");
}

TEST_P(ConjugateGradient, solves_it_on_a_cube) {
  expect_solved({GetParam()}, {"--dimensions", "3", "--size", "5"}, " 125 unknowns, 725 entries, ");
}

// Fewer unknowns than processes, too.
TEST_P(ConjugateGradient, solves_the_smallest_systems) {
  expect_solved({GetParam()}, {"--size", "1"}, " 1 unknowns, 1 entries, 0 elements ");
  expect_solved({GetParam()}, {"--size", "2"}, " 4 unknowns, 12 entries, ");
  expect_solved({GetParam()}, {file_with(std::string(kGeneral) + "0 0 0\n")},
                " 0 unknowns, 0 entries, 0 elements ");
}

TEST_P(ConjugateGradient, solves_for_the_matrix_in_a_file) {
  expect_solved({GetParam()}, {kFile}, " 963 unknowns, 5481 entries, ");
}

TEST_P(ConjugateGradient, runs_the_version_that_is_asked_for) {
  for (const std::string& version : kVersions) {
    expect_solved({GetParam()}, {"--size", "9", "--seed", "42", "--version", version},
                  " 81 unknowns, ", {version});
  }
}

INSTANTIATE_TEST_SUITE_P(Processes, ConjugateGradient, ::testing::ValuesIn(kProcs));

class ConjugateGradientAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(ConjugateGradientAcrossNodes, solves_the_equation_of_poisson_on_a_square) {
  expect_solved(GetParam(), {"--size", "7"}, " 49 unknowns, ");
}

INSTANTIATE_TEST_SUITE_P(Nodes, ConjugateGradientAcrossNodes, ::testing::ValuesIn(few_shapes()));

// Each process needs elements of each other one.
TEST(ConjugateGradient, solves_for_a_full_matrix_over_all_ways) {
  std::string full = std::string(kGeneral) + "% all but the diagonal are 1\n\n8 8 64\n";
  for (int row = 1; row <= 8; ++row) {
    for (int column = 1; column <= 8; ++column) {
      full +=
          std::to_string(row) + " " + std::to_string(column) + (row == column ? " 12\n" : " 1\n");
    }
  }
  const std::string file = file_with(full);
  for (const Shape& shape : {Shape{4}, Shape{4, 2}, Shape{4, 2, kDatagrams}}) {
    expect_solved(shape, {file}, "4 processes, 8 unknowns, 64 entries, 24 elements ");
  }
}

TEST(ConjugateGradient, compares_with_a_factorization_where_the_matrix_is_small) {
  EXPECT_TRUE(factorized(run(2, "conjugate_gradient", {"--size", "17"})));
  EXPECT_FALSE(factorized(run(2, "conjugate_gradient", {"--size", "18"})));
}

TEST(ConjugateGradient, reads_what_the_format_allows) {
  const std::string file = file_with(
      "%%MatrixMarket MATRIX Coordinate integer Symmetric\r\n%comment\n \n% another\n"
      "  3\t3 4 \n\n1 1 +2\n% between\n3 1 -1\n3 3 40\n2 2 3\n\n");
  expect_solved({2}, {file}, "2 processes, 3 unknowns, 5 entries, 2 elements ");
  const std::string same =
      file_with(std::string(kGeneral) + "3 3 5\n1 1 2e0\n3 1 -1.\n3 3 4E+1\n2 2 3\n1 3 -1\n");
  expect_solved({2}, {same}, "2 processes, 3 unknowns, 5 entries, 2 elements ");
}

TEST(ConjugateGradient, fails_when_the_iterations_do_not_suffice) {
  for (const int procs : {1, 3}) {
    const auto result = run(procs, "conjugate_gradient", {"--size", "30", "--iterations", "5"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.out.find("equal to the serial solution"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("after 5 iterations; allow more by --iterations"), std::string::npos)
        << result.out;
  }
}

// VERSION,ITERATIONS,SECONDS,CHECKSUM, and nothing else while all is right.
TEST(ConjugateGradient, csv_shows_one_checksum_of_each_system) {
  const auto checksum = [](const Words& more) {
    Words arguments{"--csv", "--size", "9"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto lines = lines_of(run(3, "conjugate_gradient", arguments).out);
    EXPECT_EQ(lines.size(), kVersions.size());
    std::string found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_TRUE(lines[i].starts_with(kVersions[i] + ",")) << lines[i];
      EXPECT_EQ(std::ranges::count(lines[i], ','), 3) << lines[i];
      const std::string last = lines[i].substr(lines[i].rfind(',') + 1);
      EXPECT_TRUE(i == 0 || last == found) << lines[i];
      found = last;
    }
    return found;
  };
  const std::string first = checksum({});
  EXPECT_EQ(checksum({"--seed", "1"}), first);
  EXPECT_NE(checksum({"--seed", "2"}), first);
  EXPECT_TRUE(run(3, "conjugate_gradient", {"--csv", "--size", "30", "--iterations", "5"})
                  .out.find("NOT SOLVED") != std::string::npos);
}

// --- Input that is refused

void expect_matrix_refused(const std::string& text, std::string_view part) {
  expect_refused("conjugate_gradient", {file_with(text)}, part);
}

TEST(ConjugateGradient, refuses_a_file_that_it_cannot_read) {
  expect_refused("conjugate_gradient", {"/no/such/file"},
                 "/no/such/file cannot be read: No such file or directory");
}

TEST(ConjugateGradient, refuses_other_kinds_of_matrices) {
  expect_matrix_refused("", "line 1 does not begin with %%MatrixMarket");
  expect_matrix_refused("3 3 3\n", "line 1 does not begin with %%MatrixMarket");
  const std::string begin = "%%MatrixMarket matrix ";
  expect_matrix_refused("%%MatrixMarket vector coordinate real general\n", "says \"vector\"");
  expect_matrix_refused(begin + "array real general\n", "says \"array\"");
  expect_matrix_refused(begin + "coordinate pattern symmetric\n", "says \"pattern\"");
  expect_matrix_refused(begin + "coordinate complex general\n", "says \"complex\"");
  expect_matrix_refused(begin + "coordinate real skew-symmetric\n", "says \"skew-symmetric\"");
  expect_matrix_refused(begin + "coordinate real\n", "says \"\"; this program reads symmetric");
}

TEST(ConjugateGradient, refuses_lines_that_are_wrong) {
  const std::string head(kSymmetric);
  expect_matrix_refused(head, "there is no line of sizes");
  expect_matrix_refused(head + "2 2\n", "line 2 has 2 words; sizes are three");
  expect_matrix_refused(head + "2 3 1\n", "line 2 says 2 rows and 3 columns");
  expect_matrix_refused(head + "-2 -2 1\n", "line 2 has \"-2\" where a number of rows");
  expect_matrix_refused(head + "5000000000 5000000000 1\n", "a number of rows below 2^32");
  expect_matrix_refused(head + "1 1 1\n% comment\n1 1\n", "line 4 has 2 words; an entry is three");
  expect_matrix_refused(head + "2 2 1\n3 1 1\n", "line 3 names row or column 3; there are 1 to 2");
  expect_matrix_refused(head + "2 2 1\n0 1 1\n", "line 3 names row or column 0");
  expect_matrix_refused(head + "2 2 1\n1 1 one\n", "\"one\" where a real number is expected");
  expect_matrix_refused(head + "2 2 1\n1 1 nan\n", "line 3 has a value that is not finite");
  expect_matrix_refused(head + "2 2 2\n1 1 1\n", "ends after 1 of 2 entries");
  expect_matrix_refused(head + "1 1 1\n1 1 1\n1 1 1\n", "line 4 is behind the last of 1 entries");
  expect_matrix_refused(head + "2 2 1\n1 2 1\n", "line 3 is above the diagonal");
}

TEST(ConjugateGradient, refuses_matrices_that_are_not_symmetric_positive_definite) {
  expect_matrix_refused(std::string(kSymmetric) + "1 1 2\n1 1 1\n1 1 1\n",
                        "entry (1, 1) is there twice");
  expect_matrix_refused(std::string(kGeneral) + "2 2 3\n1 1 1\n2 2 1\n1 2 0.5\n",
                        "entry (1, 2) is 0.500000, but entry (2, 1) is 0.000000");
  expect_matrix_refused(std::string(kSymmetric) + "2 2 1\n1 1 1\n",
                        "entry (2, 2) is not greater than 0");
  // Its eigenvalues are 3 and -1.
  const std::string file = file_with(std::string(kSymmetric) + "2 2 3\n1 1 1\n2 2 1\n2 1 2\n");
  const auto result = run(2, "conjugate_gradient", {file});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("not positive definite"), std::string::npos) << result.err;
}

TEST(ConjugateGradient, refuses_what_makes_no_sense) {
  expect_refused("conjugate_gradient", {"--size", "0"}, "--size");
  expect_refused("conjugate_gradient", {"--dimensions", "4"}, "--dimensions");
  expect_refused("conjugate_gradient", {"--dimensions", "3", "--size", "1000"}, "--size 1000");
  expect_refused("conjugate_gradient", {"--tolerance", "0"}, "--tolerance");
  expect_refused("conjugate_gradient", {"--iterations", "0"}, "--iterations");
  expect_refused("conjugate_gradient", {"--seed", "-1"}, "--seed");
  expect_refused("conjugate_gradient", {"--version", "fastest"}, "--version");
  expect_refused("conjugate_gradient", {kFile, "--size", "5"}, "excludes");
}

}  // namespace
}  // namespace examples::test::conjugate_gradient
