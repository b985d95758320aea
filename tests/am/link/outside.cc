// Conformance: memory outside the segment that its process has registered, written and read by all
// processes of other nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "am/link/link.h"
#include "am/route/port.h"
#include "tests/am/link/memory.h"

namespace am::conformance {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::byte kGuardByte{0xee};

struct Access : link::Completion {
  Access(Rank target, std::uint32_t number, std::size_t bytes)
      : rank(target), piece(number), room(bytes) {
    done = [](link::Completion& completion) { ++static_cast<Access&>(completion).times; };
  }
  Rank rank;
  std::uint32_t piece;
  std::vector<std::byte> room;
  int times = 0;
};

class Outside : public testing::Test {
 protected:
  void SetUp() override {
    if (!job().router().far_peers() || !network().can().rma) GTEST_SKIP() << "no RMA";
  }
  static link::Link& network() { return job().router().port()->link(); }

  // In everybody's memory everybody far has an area, writes its pieces there, and reads them back.
  // With `around` only one to the next.
  static void run(const Pieces& pieces, bool around = false) {
    const Rank me = job().rank();
    std::vector<std::byte> memory(job().size() * pieces.end, kGuardByte);
    const auto registration = network().can().registrar->register_memory(memory);
    const std::vector<link::RemoteKey> keys = job().exchange(registration->key());
    const auto place = [&](const Access& access) {
      return keys[access.rank] + (me * pieces.end + pieces.offsets[access.piece]);
    };
    std::deque<Access> writes = make(pieces, around);
    finish(writes, [&](Access& access) {
      pieces.oracle(me, access.rank, access.piece).fill(access.room);
      return network().try_access(link::RmaAccess::write(access.rank, place(access), access.room),
                                  access);
    });
    std::deque<Access> reads = make(pieces, around);
    finish(reads, [&](Access& access) {
      return network().try_access(link::RmaAccess::read(access.rank, place(access), access.room),
                                  access);
    });
    for (const Access& read : reads) {
      EXPECT_FALSE(pieces.oracle(me, read.rank, read.piece).difference(read.room))
          << read.room.size() << " bytes of rank " << read.rank << " are not what was written";
    }
    barrier();
    expect(memory, pieces, around);
    barrier();  // nobody uses the key any more
  }

 private:
  static bool is_target(Rank from, Rank to, bool around) {
    const bool chosen = !around || to == (from + 1) % job().size();
    return chosen && !job().router().is_near(from == job().rank() ? to : from);
  }

  static std::deque<Access> make(const Pieces& pieces, bool around) {
    std::deque<Access> accesses;
    for (const std::uint32_t i : shuffled(pieces.sizes.size(), job().rank())) {
      for (Rank rank = 0; rank < job().size(); ++rank) {
        if (is_target(job().rank(), rank, around)) accesses.emplace_back(rank, i, pieces.sizes[i]);
      }
    }
    return accesses;
  }

  template <class Start>
  static void finish(std::deque<Access>& accesses, Start&& start) {
    for (Access& access : accesses) {
      bundle().wait_until([&] { return start(access); });
    }
    bundle().wait_until(
        [&] { return std::ranges::all_of(accesses, [](auto& one) { return one.times != 0; }); });
    for (const Access& access : accesses) EXPECT_EQ(access.times, 1);
  }

  static void expect(const std::vector<std::byte>& memory, const Pieces& pieces, bool around) {
    std::vector<std::byte> expected(memory.size(), kGuardByte);
    for (Rank writer = 0; writer < job().size(); ++writer) {
      if (!is_target(writer, job().rank(), around)) continue;
      for (std::uint32_t i = 0; i < pieces.sizes.size(); ++i) {
        pieces.oracle(writer, job().rank(), i)
            .fill({expected.data() + writer * pieces.end + pieces.offsets[i], pieces.sizes[i]});
      }
    }
    EXPECT_TRUE(memory == expected);
  }
};

TEST_F(Outside, memory_is_written_and_read) {
  std::vector<std::size_t> sizes = all_sizes();
  std::erase(sizes, std::size_t{0});
  run(Pieces(sizes));
}

TEST_F(Outside, big_pieces_are_too) { run(Pieces({kBig, 1}), true); }

// The same memory, so that the registration before may serve again.
TEST_F(Outside, memory_is_registered_again_and_again) {
  const std::size_t used = network().can().registrar->registration_stats().used;
  for (int i = 0; i < 20; ++i) run(Pieces({100, 10'000}));
  EXPECT_EQ(network().can().registrar->registration_stats().used, used);
}

}  // namespace
}  // namespace am::conformance
