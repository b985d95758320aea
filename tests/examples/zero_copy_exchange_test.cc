// Blocks that go round: everybody has seen the same sum.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "tests/examples/example.h"

namespace examples::test::zero_copy_exchange {
namespace {

using am::test::lines_of;

class ZeroCopyExchange : public ::testing::TestWithParam<Shape> {
 protected:
  // `process`: what the program calls one.
  static void expect_all_seen(const std::string& program, const std::string& process) {
    constexpr std::uint64_t kNumbers = 100'000;
    const auto procs = static_cast<std::uint64_t>(GetParam().procs);
    const auto result = run(GetParam(), program);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    // Number i of rank r is r + i.
    const std::uint64_t sum =
        procs * (kNumbers * (kNumbers - 1) / 2) + kNumbers * (procs * (procs - 1) / 2);
    std::multiset<std::string> expected;
    for (std::uint64_t rank = 0; rank < procs; ++rank) {
      expected.insert(process + " " + std::to_string(rank) +
                      " has seen all blocks: " + std::to_string(sum));
    }
    const auto lines = lines_of(result.out);
    EXPECT_EQ(std::multiset<std::string>(lines.begin(), lines.end()), expected);
  }
};

TEST_P(ZeroCopyExchange, every_process_sees_every_block) {
  expect_all_seen("zero_copy_exchange", "rank");
}

TEST_P(ZeroCopyExchange, every_process_sees_every_block_in_c) {
  expect_all_seen("pass_blocks", "process");
}

INSTANTIATE_TEST_SUITE_P(Processes, ZeroCopyExchange,
                         ::testing::Values(Shape{1}, Shape{2}, Shape{5}));
INSTANTIATE_TEST_SUITE_P(Nodes, ZeroCopyExchange, ::testing::ValuesIn(shapes_across_nodes()));

}  // namespace
}  // namespace examples::test::zero_copy_exchange
