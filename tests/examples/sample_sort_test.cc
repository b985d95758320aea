// sample_sort against `LC_ALL=C sort`, byte by byte.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "tests/examples/example.h"

namespace examples::test::sample_sort {
namespace {

std::string sorted(const std::string& path) {
  const std::string out = new_path();
  const auto result = am::test::run({"sh", "-c", "LC_ALL=C sort \"$0\" > \"$1\"", path, out});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return contents_of(out);
}

// EXPECT_EQ would print megabytes.
void expect_same(const std::string& actual, const std::string& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  EXPECT_TRUE(actual == expected);
}

std::string random_bytes(std::size_t bytes, int first, int last) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(first, last);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(byte(random));
  return text;
}

std::string repeated(std::string_view line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

class SampleSort : public ::testing::TestWithParam<int> {
 protected:
  void expect_sorted(std::string_view text) {
    const std::string path = file_with(text);
    const std::string out = new_path();
    const auto result = run(GetParam(), "sample_sort", {path, "-o", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("in order, nothing lost"), std::string::npos) << result.out;
    expect_same(contents_of(out), sorted(path));
  }
};

TEST_P(SampleSort, sorts_bytes_of_all_values) { expect_sorted(random_bytes(300'000, 0, 255)); }

TEST_P(SampleSort, sorts_many_short_and_empty_lines) {
  expect_sorted(random_bytes(100'000, '\n' - 1, '\n' + 1));
}

TEST_P(SampleSort, leaves_an_empty_file_empty) { expect_sorted(""); }

TEST_P(SampleSort, sorts_less_lines_than_processes) {
  expect_sorted("\n");
  expect_sorted("b");
  expect_sorted("b\na");
}

TEST_P(SampleSort, gives_the_last_line_its_newline) {
  expect_sorted("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine");
}

TEST_P(SampleSort, puts_a_line_before_those_it_begins) {
  using namespace std::string_view_literals;
  expect_sorted(repeated("ab\na\na\0\na\t\n\n\xff\n\x7f\n"sv, 50));
}

TEST_P(SampleSort, sorts_a_file_of_one_line_of_five_megabytes) {
  expect_sorted(random_bytes(5'000'000, ' ', '~'));
}

TEST_P(SampleSort, sorts_a_huge_line_among_small_ones) {
  const std::string small = repeated("small\nlines\n", 1000);
  expect_sorted(small + random_bytes(2'000'000, ' ', '~') + "\n" + small);
}

TEST_P(SampleSort, sorts_equal_lines) { expect_sorted(repeated("all the same\n", 30'000)); }

TEST_P(SampleSort, gives_equal_lines_to_all_processes_alike) {
  const std::string path = file_with(repeated("all the same\n", 30'000));
  const auto result = run(GetParam(), "sample_sort", {path, "-o", new_path()});
  const std::string before = "the largest part has ";
  const std::size_t at = result.out.find(before);
  ASSERT_NE(at, std::string::npos) << result.out;
  const long share = 30'000 * 13 / GetParam();
  EXPECT_LT(std::stol(result.out.substr(at + before.size())), share + share / 4);
}

TEST_P(SampleSort, sorts_long_lines_that_differ_at_the_end_only) {
  std::string text;
  for (int i = 3000; i > 0; --i) text += std::string(300, 'x') + std::to_string(i) + "\n";
  expect_sorted(text);
}

TEST_P(SampleSort, sorts_real_text) { expect_sorted(contents_of("tests/examples/real_text")); }

TEST_P(SampleSort, writes_to_standard_output) {
  const std::string path = file_with(random_bytes(200'000, 0, 255));
  const auto result = run(GetParam(), "sample_sort", {path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_same(result.out, sorted(path));
}

TEST_P(SampleSort, may_write_to_the_file_it_reads) {
  const std::string path = file_with(random_bytes(200'000, 'a' - 90, 'z'));
  const std::string expected = sorted(path);
  EXPECT_EQ(run(GetParam(), "sample_sort", {path, "-o", path}).exit_code, 0);
  expect_same(contents_of(path), expected);
}

TEST_P(SampleSort, leaves_nothing_of_what_was_in_the_output_file) {
  const std::string out = file_with("a longer text than the sorted one\n");
  EXPECT_EQ(run(GetParam(), "sample_sort", {file_with("b\na\n"), "-o", out}).exit_code, 0);
  EXPECT_EQ(contents_of(out), "a\nb\n");
}

TEST_P(SampleSort, sorts_more_than_its_segment_holds) {
  const std::string path = file_with(random_bytes(6'000'000, 0, 255));
  const std::string out = new_path();
  const auto result =
      am::test::run({"env", "SPLITC_SEGMENT=1M", "tools/splitcrun/splitcrun", "-n",
                     std::to_string(GetParam()), "examples/sample_sort", path, "-o", out});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_same(contents_of(out), sorted(path));
}

INSTANTIATE_TEST_SUITE_P(Processes, SampleSort, ::testing::ValuesIn(kProcs));

class SampleSortAcrossNodes : public ::testing::TestWithParam<Shape> {};

TEST_P(SampleSortAcrossNodes, sorts_real_text) {
  const std::string path = "tests/examples/real_text";
  const std::string out = new_path();
  const auto result = run(GetParam(), "sample_sort", {path, "-o", out});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_same(contents_of(out), sorted(path));
}

TEST_P(SampleSortAcrossNodes, sorts_bytes_of_all_values) {
  const std::string path = file_with(random_bytes(300'000, 0, 255));
  const auto result = run(GetParam(), "sample_sort", {path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_same(result.out, sorted(path));
}

INSTANTIATE_TEST_SUITE_P(Nodes, SampleSortAcrossNodes, ::testing::ValuesIn(shapes_across_nodes()));

TEST(SampleSort, refuses_a_missing_argument) { expect_refused("sample_sort", {}, "FILE"); }

TEST(SampleSort, refuses_an_option_it_does_not_know) {
  expect_refused("sample_sort", {file_with("a"), "--reverse"}, "--reverse");
}

TEST(SampleSort, refuses_a_file_that_it_cannot_read) {
  expect_refused("sample_sort", {"/no/such/file"},
                 "/no/such/file cannot be read: No such file or directory");
  expect_refused("sample_sort", {"/"}, "/ is no regular file");
  expect_refused("sample_sort", {"/dev/null"}, "/dev/null is no regular file");
  expect_refused("sample_sort", {"/proc/version"}, "/proc/version has no size");
}

TEST(SampleSort, refuses_a_pipe_whether_or_not_somebody_writes_to_it) {
  const std::string pipe = new_path();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string sentence = pipe + " is no regular file";
  expect_refused("sample_sort", {pipe}, sentence);
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(write(writer, "b\na\n", 4), 4);
  expect_refused("sample_sort", {pipe}, sentence);
  close(writer);
}

TEST(SampleSort, refuses_an_output_that_it_cannot_write) {
  const std::string path = file_with("b\na\n");
  expect_refused("sample_sort", {path, "-o", "/no/such/folder/out"},
                 "/no/such/folder/out cannot be written: No such file or directory");
  expect_refused("sample_sort", {path, "-o", "/"}, "/ cannot be written");
  expect_refused("sample_sort", {path, "-o", "/dev/full"},
                 "/dev/full cannot be written: No space left on device");
}

}  // namespace
}  // namespace examples::test::sample_sort
