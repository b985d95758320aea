// The applications that communicate in several ways: each way against what process 0 computes
// alone, to the last bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <tuple>

#include "tests/examples/example.h"

namespace examples::test::applications {
namespace {

using am::test::lines_of;

constexpr int kWays = 3;

struct Application {
  std::string name;
  Words small;  // options with which what is sent fits medium messages
  Words large;  // and with which it does not
};

void PrintTo(const Application& application, std::ostream* out) { *out << application.name; }

const Application kApplications[] = {
    {"jacobi3d", {"--size", "9", "--iterations", "7"}, {"--size", "50", "--iterations", "5"}},
    {"matmul3d", {"--size", "21", "--iterations", "7"}, {"--size", "100", "--iterations", "5"}},
    {"pair_calculator",
     {"--states", "9", "--planes", "5", "--points", "31", "--iterations", "7"},
     {"--states", "5", "--planes", "3", "--points", "700", "--iterations", "5"}},
    {"pipeline",
     {"--points", "40", "--iterations", "101"},
     {"--points", "3000", "--iterations", "50"}},
};

// Runs it in all ways, twice, and expects each to be right.
void expect_equal(const Shape& shape, const std::string& application, Words options) {
  options.insert(options.end(), {"--repetitions", "2", "--verify"});
  const auto result = run(shape, application, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto equal = [](const std::string& line) {
    return line.ends_with("  equal to the serial computation");
  };
  EXPECT_EQ(std::ranges::count_if(lines_of(result.out), equal), kWays) << result.out;
}

using Case = std::tuple<Application, Shape>;
class Applications : public ::testing::TestWithParam<Case> {};
class LargeApplications : public ::testing::TestWithParam<Case> {};

TEST_P(Applications, give_the_same_bits_in_all_ways) {
  const auto& [application, shape] = GetParam();
  expect_equal(shape, application.name, application.small);
}

TEST_P(LargeApplications, give_the_same_bits_in_all_ways) {
  const auto& [application, shape] = GetParam();
  expect_equal(shape, application.name, application.large);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Applications,
    ::testing::Combine(::testing::ValuesIn(kApplications),
                       ::testing::Values(Shape{1}, Shape{2}, Shape{3}, Shape{5}, Shape{8},
                                         Shape{4, 2}, Shape{3, 3, "tcp;ofi_rxm"},
                                         Shape{4, 2, kDatagrams}, Shape{3, 3, kFewLost},
                                         Shape{2, 2, kManyLost})));
INSTANTIATE_TEST_SUITE_P(
    Shapes, LargeApplications,
    ::testing::Combine(::testing::ValuesIn(kApplications),
                       ::testing::Values(Shape{2}, Shape{4, 2}, Shape{2, 2, "tcp;ofi_rxm"},
                                         Shape{4, 2, "shm"}, Shape{2, 2, kDatagrams},
                                         Shape{4, 2, kFewLost}, Shape{3, 3, kManyLost})));

TEST(Applications, may_be_divided_along_any_dimension) {
  for (const char* application : {"jacobi3d", "matmul3d"}) {
    for (const char* grid : {"4x1x1", "1x4x1", "1x1x4", "1x2x2"}) {
      expect_equal({4}, application, {"--size", "18", "--grid", grid, "--iterations", "4"});
    }
  }
}

TEST(Applications, solve_boxes_that_are_no_cubes) {
  for (const char* size : {"7x18x5", "40x3x3", "3x4x50"}) {
    expect_equal({2}, "jacobi3d", {"--size", size, "--iterations", "5"});
    expect_equal({4, 2}, "jacobi3d", {"--size", size, "--grid", "2x2x1", "--overlap"});
  }
}

TEST(Applications, may_compute_while_ghosts_are_on_their_way) {
  for (const char* size : {"1", "2", "9", "30"}) {
    const Shape shape{std::string_view(size) == "1" ? 1 : 2};
    expect_equal(shape, "jacobi3d", {"--size", size, "--overlap", "--iterations", "6"});
  }
  expect_equal({8, 2}, "jacobi3d", {"--size", "21", "--overlap", "--iterations", "7"});
}

TEST(Applications, may_arm_channels_in_the_phase_that_waits_for_them) {
  for (const Shape& shape : {Shape{1}, Shape{3}, Shape{4, 2}}) {
    expect_equal(shape, "pair_calculator",
                 {"--states", "9", "--planes", "5", "--points", "31", "--mark"});
  }
}

TEST(Applications, run_the_way_that_is_asked_for) {
  for (const Application& application : kApplications) {
    for (const char* way : {"messages", "stores", "channels"}) {
      Words options = application.small;
      options.insert(options.end(), {"--with", way});
      const auto lines = lines_of(run(2, application.name, options).out);
      ASSERT_EQ(lines.size(), 4u);  // behind three of heading
      EXPECT_TRUE(lines[3].starts_with(std::string(way) + " ")) << lines[3];
    }
  }
}

TEST(Applications, refuse_what_makes_no_sense) {
  for (const Application& application : kApplications) {
    expect_refused(application.name, {"--with", "pigeons"}, "--with");
    expect_refused(application.name, {"--iterations", "0"}, "--iterations");
  }
  for (const char* application : {"jacobi3d", "matmul3d"}) {
    expect_refused(application, {"--size", "0"}, "--size");
    expect_refused(application, {"--size", "4x"}, "--size");
    expect_refused(application, {"--grid", "2x2x1"}, "--grid 2x2x1 is not a grid of");
    for (const std::string grid : {"0x0x0", "0x1x1", "1x1", "1x1x1x1", "two", "1x1x-1", "1x1x",
                                   "4294967297x1x1", "1048577x1x1"}) {
      expect_refused(application, {"--grid", grid},
                     "--grid: \"" + grid + "\" is not three numbers from 1 to 1048576");
    }
  }
}

TEST(Applications, refuse_sizes_with_nothing_for_some_process) {
  for (const char* application : {"jacobi3d", "matmul3d"}) {
    const auto result = run(3, application, {"--size", "2"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_NE(result.err.find("--size 2"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace examples::test::applications
