// A stencil whose columns go to the neighbours' ghost columns as they lie, without packing: with a
// barrier in each step, and with two grids by turns and no synchronisation but the puts. The result
// is that of one process, to the last bit.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace halo_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

constexpr std::size_t kRows = 24;
constexpr std::size_t kColumns = 6;  // of each process; the whole is a cylinder
constexpr int kSteps = 60;

double start(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 37 + column * 101) % 64) / 7;
}
double next(double middle, double up, double down, double left, double right) {
  return 0.3 * middle + 0.2 * up + 0.15 * down + 0.25 * left + 0.1 * right;
}

std::vector<double> alone() {
  const std::size_t columns = kColumns * job().size();
  std::vector<double> now(kRows * columns);
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = start(i / columns, i % columns);
  std::vector<double> then = now;
  for (int step = 0; step < kSteps; ++step) {
    const auto at = [&](std::size_t row, std::size_t column) {
      return now[row * columns + column % columns];
    };
    for (std::size_t row = 1; row + 1 < kRows; ++row) {
      for (std::size_t c = 0; c < columns; ++c) {
        then[row * columns + c] = next(at(row, c), at(row - 1, c), at(row + 1, c),
                                       at(row, c + columns - 1), at(row, c + 1));
      }
    }
    std::swap(now, then);
  }
  return now;
}

// One grid with a ghost column on either side, and the channels into and out of it.
class Grid {
 public:
  static constexpr std::size_t kWidth = kColumns + 2;

  explicit Grid(int number)
      : cells_(reinterpret_cast<double*>(job().router().segment()) + number * kRows * kWidth) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 1; column <= kColumns; ++column) {
        at(row, column) = start(row, rank() * kColumns + column - 1);
      }
    }
    const Rank right = (rank() + 1) % job().size();
    const Rank left = (rank() + job().size() - 1) % job().size();
    open(0, kColumns, right);
    open(kColumns + 1, 1, left);
  }

  double& at(std::size_t row, std::size_t column) { return cells_[row * kWidth + column]; }

  void put() {
    for (SendChannel& out : out_) out.put();
  }
  void wait() {
    ++steps_;
    bundle().wait_until([&] {
      bool all = true;
      for (const ReceiveChannel& in : in_) all = all && in.callbacks() == steps_;
      for (const SendChannel& out : out_) all = all && out.reusable();
      return all;
    });
  }
  void ready() {
    for (ReceiveChannel& in : in_) in.ready();
  }
  void compute(Grid& to) {
    for (std::size_t row = 1; row + 1 < kRows; ++row) {
      for (std::size_t c = 1; c <= kColumns; ++c) {
        to.at(row, c) =
            next(at(row, c), at(row - 1, c), at(row + 1, c), at(row, c - 1), at(row, c + 1));
      }
    }
  }

 private:
  static constexpr Strided kColumn{
      .run = sizeof(double), .rows = kRows, .row_stride = kWidth * sizeof(double)};

  // A channel into column `ghost`, and the one that takes `edge` to the same of process `to`.
  void open(std::size_t ghost, std::size_t edge, Rank to) {
    in_.emplace_back(bundle(), reinterpret_cast<std::byte*>(&at(0, ghost)), kColumn, [] {});
    out_.emplace_back(bundle(), job().exchange(in_.back().handle())[to]);
    out_.back().associate(reinterpret_cast<const std::byte*>(&at(0, edge)), kColumn);
  }

  double* cells_;
  std::uint64_t steps_ = 0;
  std::vector<ReceiveChannel> in_;
  std::vector<SendChannel> out_;
};

void expect_as_alone(Grid& grid) {
  const std::vector<double> expected = alone();
  const std::size_t columns = kColumns * job().size();
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t c = 1; c <= kColumns; ++c) {
      ASSERT_EQ(grid.at(row, c), expected[row * columns + rank() * kColumns + c - 1]);
    }
  }
  barrier();
}

TEST(Halo, with_a_barrier_in_each_step) {
  Grid now(0);
  Grid scratch(1);
  for (int step = 0; step < kSteps; ++step) {
    now.put();
    now.wait();
    now.compute(scratch);
    for (std::size_t row = 1; row + 1 < kRows; ++row) {
      for (std::size_t c = 1; c <= kColumns; ++c) now.at(row, c) = scratch.at(row, c);
    }
    now.ready();
    barrier();
  }
  expect_as_alone(now);
}

// A neighbour's put of this step says that it is through with the other grid.
TEST(Halo, with_two_grids_by_turns) {
  std::array<Grid, 2> grids{Grid(0), Grid(1)};
  barrier();
  for (int step = 0; step < kSteps; ++step) {
    Grid& now = grids[step % 2];
    now.put();
    now.wait();
    now.compute(grids[(step + 1) % 2]);
    now.ready();
  }
  expect_as_alone(grids[kSteps % 2]);
}

}  // namespace halo_test
}  // namespace am
