// Puts on channels between every two processes of a job, whatever is between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace channel_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

// A part of the segment for the data that `writer` sends here.
constexpr std::uint64_t kArea = 6 << 20;
std::byte* area(Rank writer) { return job().router().segment() + writer * kArea; }

// One channel from every process to every process, itself included.
class Mesh {
 public:
  explicit Mesh(const Strided& shape) : shape_(shape), arrived_(::test::size()) {
    std::vector<ChannelHandle> mine;
    for (Rank from = 0; from < ::test::size(); ++from) {
      in_.emplace_back(bundle(), area(from), shape, [this, from] { ++arrived_[from]; });
      mine.push_back(in_.back().handle());
    }
    // Everybody's handle for everybody, one column at a time.
    for (Rank from = 0; from < ::test::size(); ++from) {
      const auto column = job().exchange(mine[from]);
      if (from != rank()) continue;
      for (Rank to = 0; to < ::test::size(); ++to) out_.emplace_back(bundle(), column[to]);
    }
    barrier();
  }
  ~Mesh() {
    out_.clear();
    barrier();
  }

  SendChannel& out(Rank to) { return out_[to]; }
  ReceiveChannel& in(Rank from) { return in_[from]; }
  std::uint64_t arrived(Rank from) const { return arrived_[from]; }

  void wait_for(std::uint64_t puts) {
    bundle().wait_until(
        [&] { return std::ranges::all_of(arrived_, [&](std::uint64_t n) { return n == puts; }); });
  }
  void ready() {
    for (ReceiveChannel& in : in_) in.ready();
    barrier();
  }

 private:
  Strided shape_;
  std::vector<std::uint64_t> arrived_;
  std::vector<ReceiveChannel> in_;
  std::vector<SendChannel> out_;
};

std::byte value(Rank from, Rank to, std::uint64_t put, std::uint64_t i) {
  return static_cast<std::byte>(from * 31 + to * 7 + put * 131 + i * 17 + i / 256);
}

class Sizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Sizes, arrive_whole_and_touch_nothing_else) {
  const std::uint64_t bytes = GetParam();
  constexpr auto kGuard = static_cast<std::byte>(0xa5);
  for (Rank from = 0; from < ::test::size(); ++from) {
    std::fill_n(area(from), bytes + 16, kGuard);
  }
  barrier();
  Mesh mesh(Strided::contiguous(bytes));
  std::vector<std::vector<std::byte>> sources(::test::size(), std::vector<std::byte>(bytes));
  for (Rank to = 0; to < ::test::size(); ++to) mesh.out(to).associate(sources[to]);
  for (std::uint64_t put = 1; put <= 3; ++put) {
    for (Rank to = 0; to < ::test::size(); ++to) {
      for (std::uint64_t i = 0; i < bytes; ++i) sources[to][i] = value(rank(), to, put, i);
      mesh.out(to).put();
    }
    mesh.wait_for(put);
    for (Rank from = 0; from < ::test::size(); ++from) {
      EXPECT_TRUE(mesh.in(from).in_use());
      for (std::uint64_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(area(from)[i], value(from, rank(), put, i))
            << "byte " << i << " of put " << put << " from " << from;
      }
      for (std::uint64_t i = bytes; i < bytes + 16; ++i) ASSERT_EQ(area(from)[i], kGuard);
    }
    bundle().wait_until([&] {
      for (Rank to = 0; to < ::test::size(); ++to) {
        if (!mesh.out(to).reusable()) return false;
      }
      return true;
    });
    mesh.ready();
  }
}

INSTANTIATE_TEST_SUITE_P(Put, Sizes,
                         testing::Values(0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097,
                                         16383, 65536, 65545, (4 << 20) + 1));

// Long enough to be written row by row, cut differently at the two ends.
TEST(Rows, arrive_each_in_its_place_and_touch_nothing_else) {
  constexpr Strided kTarget{
      .run = 49'152, .rows = 3, .planes = 2, .row_stride = 49'200, .plane_stride = 150'000};
  constexpr Strided kSource{.run = 73'728, .rows = 4, .row_stride = 73'800};
  constexpr auto kGuard = static_cast<std::byte>(0xa5);
  for (Rank from = 0; from < ::test::size(); ++from) {
    std::fill_n(area(from), kTarget.extent() + 16, kGuard);
  }
  barrier();
  Mesh mesh(kTarget);
  std::vector<std::vector<std::byte>> sources(::test::size(),
                                              std::vector<std::byte>(kSource.extent()));
  for (Rank to = 0; to < ::test::size(); ++to) mesh.out(to).associate(sources[to].data(), kSource);
  std::vector<std::byte> expected(kTarget.extent() + 16);
  for (std::uint64_t put = 1; put <= 4; ++put) {
    for (Rank to = 0; to < ::test::size(); ++to) {
      bundle().wait_until([&] { return mesh.out(to).reusable(); });
      for (std::uint64_t i = 0; i < kSource.bytes(); ++i) {
        sources[to][i / 73'728 * 73'800 + i % 73'728] = value(rank(), to, put, i);
      }
      mesh.out(to).put();
    }
    mesh.wait_for(put);
    for (Rank from = 0; from < ::test::size(); ++from) {
      std::ranges::fill(expected, kGuard);
      for (std::uint64_t i = 0; i < kTarget.bytes(); ++i) {
        const std::uint64_t run = i / 49'152;
        expected[run / 3 * 150'000 + run % 3 * 49'200 + i % 49'152] = value(from, rank(), put, i);
      }
      ASSERT_EQ(std::memcmp(area(from), expected.data(), expected.size()), 0)
          << "put " << put << " from " << from;
    }
    mesh.ready();
  }
}

TEST(Payload, of_any_value_is_told_once) {
  Mesh mesh(Strided::contiguous(24));
  std::vector<std::byte> source(24);
  for (Rank to = 0; to < ::test::size(); ++to) mesh.out(to).associate(source);
  std::uint64_t puts = 0;
  for (const double last : {-0.0, 0.0, std::numeric_limits<double>::quiet_NaN(), 1.0, 1.0, 1.0}) {
    for (int i = 0; i < 3; ++i) std::memcpy(&source[8 * i], &last, sizeof last);
    for (Rank to = 0; to < ::test::size(); ++to) mesh.out(to).put();
    mesh.wait_for(++puts);
    for (int i = 0; i < 100; ++i) bundle().poll();
    for (Rank from = 0; from < ::test::size(); ++from) {
      EXPECT_EQ(mesh.arrived(from), puts);
      EXPECT_EQ(std::memcmp(area(from), source.data(), source.size()), 0);
    }
    bundle().wait_until([&] {
      for (Rank to = 0; to < ::test::size(); ++to) {
        if (!mesh.out(to).reusable()) return false;
      }
      return true;
    });
    mesh.ready();
  }
}

}  // namespace channel_test
}  // namespace am
