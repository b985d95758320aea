// Every mode, direction, kind of memory and size, between every pair of processes (this process,
// neighbours, other nodes), with buffers used again, registered again and of another size.

#include <cstring>
#include <tuple>

#include "tests/am/zero_copy/support.h"

namespace am::zero_copy_test {
namespace {

constexpr std::size_t kLonger = 13;  // bytes that a destination has more than its source

struct Corner {
  ZeroCopyMode mode;
  Place place;
  bool put;
};

// One process's two buffers, and what their callbacks have seen.
struct Pair {
  Pair(ZeroCopy& zero, const Corner& corner, std::size_t bytes)
      : corner(corner),
        from(zero, corner.place, bytes),
        to(zero, corner.place, bytes + kLonger),
        source(zero, from.bytes(), at_source(), corner.mode),
        destination(zero, to.bytes(), arrived.callback(), corner.mode) {}

  // Who has been read may be overwritten at once: the other end must not see it.
  ZeroCopyCallback at_source() {
    return [this](const ZeroCopyDone& done) {
      left.all.push_back(done);
      std::memset(from.bytes().data(), 0xdd, from.bytes().size());
    };
  }
  void show_all() {
    sources = show(source.info());
    destinations = show(destination.info());
  }

  const Corner corner;
  Memory from, to;
  Notes left, arrived;
  ZeroCopyBuffer source, destination;
  std::vector<ZeroCopyInfo> sources, destinations;  // by rank
};

// Every process moves `bytes` to or from the one `steps` further on, and is the other end of the
// one before. Collective.
void move(ZeroCopy& zero, Pair& pair, std::size_t bytes, std::uint32_t steps,
          std::uint64_t number) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes, " << steps << " processes further");
  pair.to.anew();
  pair.from.fill(number * 100 + me());
  pair.left.all.clear();
  pair.arrived.all.clear();
  pair.source.set_reference(number * 10 + 1);
  pair.destination.set_reference(number * 10 + 2);
  barrier();
  const bool put = pair.corner.put;
  if (put) {
    pair.source.put(pair.destinations[after(steps)]);
  } else {
    pair.destination.get(pair.sources[after(steps)]);
  }
  bundle().wait_until([&] { return !pair.left.all.empty() && !pair.arrived.all.empty(); });
  settle(zero);
  ASSERT_EQ(pair.left.all.size(), 1u);
  ASSERT_EQ(pair.arrived.all.size(), 1u);
  const Rank giver = put ? before(steps) : after(steps);
  const Rank taker = put ? after(steps) : before(steps);
  EXPECT_TRUE(pair.to.holds(number * 100 + giver, bytes));
  const ZeroCopyDone& left = pair.left.last();
  const ZeroCopyDone& arrived = pair.arrived.last();
  EXPECT_EQ(left.buffer, pair.source.info());
  EXPECT_EQ(arrived.buffer, pair.destination.info());
  EXPECT_EQ(left.buffer.reference, number * 10 + 1);
  EXPECT_EQ(arrived.buffer.reference, number * 10 + 2);
  EXPECT_EQ(std::tuple(left.bytes, left.peer, left.source), std::tuple(bytes, taker, true));
  EXPECT_EQ(std::tuple(arrived.bytes, arrived.peer, arrived.source),
            std::tuple(bytes, giver, false));
  EXPECT_EQ(pair.source.under_way() + pair.destination.under_way(), 0u);
}

// Used, used again, registered again, and of another size.
void all_of(ZeroCopy& zero, const Corner& corner, std::size_t bytes) {
  Pair pair(zero, corner, bytes);
  pair.show_all();
  std::uint64_t number = bytes + 1;
  for (std::uint32_t steps = 0; steps < job().size(); ++steps) {
    move(zero, pair, bytes, steps, ++number);
    move(zero, pair, bytes, steps, ++number);
    if (testing::Test::HasFailure()) return;
  }
  pair.source.deregister_memory();
  pair.destination.deregister_memory();
  EXPECT_FALSE(pair.source.registered());
  pair.source.register_memory();
  pair.destination.register_memory();
  EXPECT_TRUE(pair.source.registered());
  move(zero, pair, bytes, 1 % job().size(), ++number);
  const std::size_t less = bytes / 2;
  pair.source.init(pair.from.bytes().first(less), pair.at_source(), corner.mode);
  pair.destination.init(pair.to.bytes().first(less), pair.arrived.callback(), corner.mode);
  pair.show_all();
  move(zero, pair, less, 1 % job().size(), ++number);
  barrier();
}

class Grid : public testing::TestWithParam<std::tuple<ZeroCopyMode, Place, bool>> {};

TEST_P(Grid, moves_every_size_with_one_callback_at_each_end) {
  const auto [mode, place, put] = GetParam();
  ZeroCopy zero(job(), bundle());
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 4095, 4096, 4097, 70'001}) {
    all_of(zero, {mode, place, put}, bytes);
    if (HasFailure()) return;
  }
  barrier();
}

using enum ZeroCopyMode;
using enum Place;
INSTANTIATE_TEST_SUITE_P(Unregistered, Grid,
                         testing::Combine(testing::Values(kUnreg), testing::Values(kHeap, kSegment),
                                          testing::Bool()));
INSTANTIATE_TEST_SUITE_P(Registered, Grid,
                         testing::Combine(testing::Values(kReg), testing::Values(kHeap, kSegment),
                                          testing::Bool()));
INSTANTIATE_TEST_SUITE_P(Preregistered, Grid,
                         testing::Combine(testing::Values(kPrereg), testing::Values(kPool),
                                          testing::Bool()));

TEST(Grid, moves_four_mebibytes_and_one) {
  ZeroCopy zero(job(), bundle());
  for (const bool put : {false, true}) {
    all_of(zero, {kUnreg, kHeap, put}, (4 << 20) + 1);
    all_of(zero, {kPrereg, kPool, put}, (4 << 20) + 1);
  }
  barrier();
}

}  // namespace
}  // namespace am::zero_copy_test
