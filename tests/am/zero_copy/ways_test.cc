// Which way transfers take, as the statistics tell.

#include <sys/mman.h>

#include <cstring>

#include "am/job/config/config.h"
#include "am/route/port.h"
#include "tests/am/zero_copy/support.h"

namespace am::zero_copy_test {
namespace {

constexpr std::size_t kLarge = 100'000;

// Two buffers of every process, the destination known to all.
struct Line {
  Line(ZeroCopy& zero, Place from_place, Place to_place, ZeroCopyMode mode)
      : zero(zero),
        from(zero, from_place, kLarge),
        to(zero, to_place, kLarge),
        source(zero, from.bytes(), {}, from_place == Place::kPool ? mode : ZeroCopyMode::kUnreg),
        destination(zero, to.bytes(), arrived.callback(), mode),
        all(show(destination.info())) {}

  // Everybody puts `times` times into the buffer of the next process. What this process has moved
  // then. Collective.
  ZeroCopyStats put_to_next(int times) {
    const ZeroCopyStats before = zero.stats();
    barrier();
    for (int i = 0; i < times; ++i) {
      arrived.all.clear();
      from.fill(++number * 100 + me());
      barrier();
      source.put(all[after(1)]);
      bundle().wait_until([&] { return !arrived.all.empty(); });
      EXPECT_TRUE(to.holds(number * 100 + zero_copy_test::before(1), kLarge));
      settle(zero);
    }
    const ZeroCopyStats& now = zero.stats();
    return {now.mapped - before.mapped, now.cross_memory - before.cross_memory,
            now.rma - before.rma, now.rma_alone - before.rma_alone, now.messages - before.messages};
  }

  ZeroCopy& zero;
  Memory from, to;
  Notes arrived;
  ZeroCopyBuffer source, destination;
  const std::vector<ZeroCopyInfo> all;
  std::uint64_t number = 0;
};

TEST(Ways, mapped_memory_of_neighbours_is_copied_once) {
  ZeroCopy zero(job(), bundle());
  for (const Place place : {Place::kSegment, Place::kPool}) {
    Line line(zero, Place::kHeap, place,
              place == Place::kPool ? ZeroCopyMode::kPrereg : ZeroCopyMode::kUnreg);
    const ZeroCopyStats ways = line.put_to_next(2);
    if (near(after(1))) {
      EXPECT_EQ(ways.mapped, 2u);
      EXPECT_EQ(ways.cross_memory, 0u);
    }
  }
}

TEST(Ways, other_memory_of_neighbours_is_reached_through_the_kernel_unless_that_is_off) {
  ZeroCopy zero(job(), bundle());
  Line line(zero, Place::kHeap, Place::kHeap, ZeroCopyMode::kUnreg);
  const ZeroCopyStats ways = line.put_to_next(2);
  if (!job().config().cross_memory) {
    EXPECT_EQ(ways.cross_memory, 0u);
  }
  if (after(1) != me() && near(after(1))) {
    EXPECT_EQ(ways.cross_memory + ways.messages, 2u) << "the system may refuse the one";
  }
}

TEST(Ways, the_owner_of_unmapped_memory_copies_where_the_other_end_is_mapped) {
  if (job().config().cross_memory) GTEST_SKIP() << "the kernel is asked first";
  ZeroCopy zero(job(), bundle());
  Line line(zero, Place::kSegment, Place::kHeap, ZeroCopyMode::kUnreg);
  const ZeroCopyStats ways = line.put_to_next(2);
  if (near(before(1))) {
    EXPECT_EQ(ways.mapped, 2u);
  }
}

// Of a buffer that stays registered, the first transfer is made by its owner, all others by who
// starts them.
TEST(Ways, registered_memory_of_other_nodes_is_accessed_without_its_owner) {
  ZeroCopy zero(job(), bundle());
  const bool access = !near(after(1)) && job().router().port()->link().can().rma;
  for (const ZeroCopyMode mode :
       {ZeroCopyMode::kUnreg, ZeroCopyMode::kReg, ZeroCopyMode::kPrereg}) {
    const Place place = mode == ZeroCopyMode::kPrereg ? Place::kPool : Place::kHeap;
    Line line(zero, place, place, mode);
    const std::uint64_t alone = access && mode != ZeroCopyMode::kUnreg ? 2 : 0;
    EXPECT_EQ(line.put_to_next(3).rma_alone, alone);
    // A key that has been taken back is asked for again.
    line.destination.deregister_memory();
    line.destination.register_memory();
    EXPECT_EQ(line.put_to_next(3).rma_alone, access ? 2u : 0u) << "registered now in every mode";
  }
}

// The network must not keep what was there before.
TEST(Ways, memory_that_was_unmapped_and_mapped_again_is_the_new_one) {
  ZeroCopy zero(job(), bundle());
  constexpr std::size_t kBytes = 64 << 10;
  const auto map = [](void* at) {
    void* const memory = mmap(at, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | (at == nullptr ? 0 : MAP_FIXED), -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<std::byte*>(memory);
  };
  std::byte* const from = map(nullptr);
  std::byte* const to = map(nullptr);
  Notes arrived;
  ZeroCopyBuffer source(zero, {from, kBytes}), destination(zero, {to, kBytes}, arrived.callback());
  const auto all = show(destination.info());
  for (int round = 1; round < 6; ++round) {
    if (round % 2 == 0) {
      ASSERT_EQ(munmap(from, kBytes), 0);
      map(from);
    }
    if (round % 3 == 0) {
      ASSERT_EQ(munmap(to, kBytes), 0);
      map(to);
    }
    std::memset(from, round, kBytes);
    barrier();
    source.put(all[after(1)]);
    bundle().wait_until([&] { return arrived.all.size() == static_cast<std::size_t>(round); });
    settle(zero);
    EXPECT_EQ(to[0], std::byte(round));
    EXPECT_EQ(to[kBytes - 1], std::byte(round));
  }
  munmap(from, kBytes);
  munmap(to, kBytes);
}

// Registrations of this process that somebody needs.
std::size_t registered() {
  Port* const port = job().router().port();
  link::Registrar* const registrar = port == nullptr ? nullptr : port->link().can().registrar;
  return registrar == nullptr ? 0 : registrar->registration_stats().used;
}

TEST(Ways, a_buffer_is_reused_ten_thousand_times_in_every_mode_and_leaves_nothing_registered) {
  const std::size_t before = registered();
  {
    ZeroCopy zero(job(), bundle());
    for (const ZeroCopyMode mode :
         {ZeroCopyMode::kUnreg, ZeroCopyMode::kReg, ZeroCopyMode::kPrereg}) {
      const std::uint64_t times = job().router().far_peers() ? 300 : 3500;
      const Place place = mode == ZeroCopyMode::kPrereg ? Place::kPool : Place::kHeap;
      Memory from(zero, place, 5000), to(zero, place, 5000);
      ZeroCopyBuffer source(zero, from.bytes(), {}, mode);
      std::uint64_t arrivals = 0;
      ZeroCopyBuffer destination(
          zero, to.bytes(), [&](const ZeroCopyDone&) { ++arrivals; }, mode);
      const auto all = show(destination.info());
      for (std::uint64_t i = 1; i <= times; ++i) {
        source.put(all[after(1)]);
        zero.wait();
        bundle().wait_until([&] { return arrivals >= i; });
      }
      settle(zero);
      EXPECT_EQ(arrivals, times);
      if (mode == ZeroCopyMode::kUnreg) {
        EXPECT_EQ(registered(), before);
      }
    }
  }
  EXPECT_EQ(registered(), before);
  barrier();
}

}  // namespace
}  // namespace am::zero_copy_test
