// Gets and puts of a few bytes, several of which share a packet and an answer.
#include "am/far/small_accesses.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "am/far/one_sided.h"
#include "am/far/packets.h"
#include "am/route/router.h"
#include "shmem/region.h"
#include "tests/am/far/fake_link.h"

namespace am::link {
namespace small_accesses_test {

constexpr std::uint64_t kSegment = 1 << 16;
constexpr Rank kOther = 1;

struct Done : Completion {
  Done() {
    done = [](Completion& one) { ++static_cast<Done&>(one).times; };
  }
  int times = 0;
};

// What this process asks of the other is answered by itself, from its own segment.
class SmallAccessesTest : public ::testing::Test {
 protected:
  SmallAccessesTest()
      : router_({.size = 2, .segment_bytes = kSegment, .abort = {}, .watch = {}, .survives = true},
                shmem::Region::create({.what = "a segment that is accessed",
                                       .bytes = RegionHeader::kBytes + kSegment})),
        tails_(link_, router_.size()),
        one_sided_(router_, link_, tails_),
        small_(router_, link_, one_sided_, tails_) {}

  // As RemoteMemory does it: the completion is that of the row.
  Completion* access(const RmaAccess& access, Done& done) {
    if (Completion* const row = small_.try_join(access, done.home)) return row;
    return small_.try_access(access, done) ? &done : nullptr;
  }
  template <class T>
  Completion* put(std::uint64_t offset, T value, Done& done) {
    const auto data = std::as_bytes(std::span(&value, 1));
    return access(RmaAccess::write(kOther, RemoteKey::in_segment(offset), data), done);
  }
  template <class T>
  Completion* get(std::uint64_t offset, T& value, Done& done) {
    const auto to = std::as_writable_bytes(std::span(&value, 1));
    return access(RmaAccess::read(kOther, RemoteKey::in_segment(offset), to), done);
  }
  bool take(const Row& packet) {
    switch (packet.head.type) {
      case Type::kPuts: return small_.serve_puts(kOther, packet);
      case Type::kGets: return small_.serve_gets(kOther, packet);
      case Type::kPutsDone:
      case Type::kGotWords: return small_.take_answer(kOther, packet);
      default: return false;
    }
  }
  // Everything that has been sent arrives, and then the answers. How many packets there were.
  std::size_t all_arrive() {
    std::size_t count = 0;
    while (!link_.sent.empty()) {
      const std::vector<test::FakeLink::Packet> now = std::exchange(link_.sent, {});
      for (const test::FakeLink::Packet& packet : now) {
        EXPECT_TRUE(take(*reinterpret_cast<const Row*>(packet.bytes.data())));
        ++count;
      }
    }
    return count;
  }
  // Whether the packet that was sent last is taken after that change.
  bool is_taken(const std::function<void(Row&)>& change) {
    std::vector<std::byte> packet = link_.sent.back().bytes;
    link_.sent.clear();
    change(*reinterpret_cast<Row*>(packet.data()));
    return take(*reinterpret_cast<const Row*>(packet.data()));
  }
  std::uint64_t* word(std::uint64_t offset) {
    return reinterpret_cast<std::uint64_t*>(router_.segment() + offset);
  }

  test::FakeLink link_;
  Router router_;
  Tails tails_;
  OneSided one_sided_;
  SmallAccesses small_;
};

TEST_F(SmallAccessesTest, puts_in_a_row_share_a_packet_an_answer_and_a_completion) {
  link_.grows_by = 100 * sizeof(SmallStore);
  Done first, others;
  EXPECT_EQ(put(0, std::uint64_t{7}, first), &first);
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_EQ(put(8 * i, 7 + i, others), &first);
  EXPECT_EQ(first.times, 0);
  EXPECT_FALSE(small_.idle());
  EXPECT_EQ(all_arrive(), 2u);
  EXPECT_EQ(first.times, 1);
  EXPECT_EQ(others.times, 0);
  EXPECT_TRUE(small_.idle());
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(*word(8 * i), 7 + i);
}

TEST_F(SmallAccessesTest, gets_in_a_row_each_go_to_their_own_place) {
  link_.grows_by = 100 * sizeof(std::uint64_t);
  std::array<std::uint64_t, 100> got{};
  for (std::uint64_t i = 0; i < got.size(); ++i) *word(8 * i) = ~i;
  Done first;
  for (std::uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(get(8 * i, got[i], first), &first);
  EXPECT_EQ(all_arrive(), 2u);
  EXPECT_EQ(first.times, 1);
  for (std::uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], ~i);
}

TEST_F(SmallAccessesTest, other_sizes_and_kinds_begin_another_packet) {
  link_.grows_by = 100 * sizeof(SmallStore);
  std::array<Done, 4> done;
  std::uint32_t got = 0;
  *word(64) = 0x1122334455667788;
  EXPECT_EQ(put(0, std::uint64_t{1}, done[0]), &done[0]);
  EXPECT_EQ(put(8, std::uint32_t{2}, done[1]), &done[1]);
  EXPECT_EQ(get(64, got, done[2]), &done[2]);
  EXPECT_EQ(put(16, std::uint8_t{3}, done[3]), &done[3]);
  EXPECT_EQ(all_arrive(), 8u);
  for (const Done& one : done) EXPECT_EQ(one.times, 1);
  EXPECT_EQ(*word(0), 1u);
  EXPECT_EQ(*word(8), 2u);
  EXPECT_EQ(got, 0x55667788u);
}

TEST_F(SmallAccessesTest, a_row_does_not_wait_for_ever) {
  link_.grows_by = 1000 * sizeof(SmallStore);
  link_.grows_until = 0;
  std::vector<Done> done(200);
  std::size_t rows = 0;
  for (std::uint64_t i = 0; i < done.size(); ++i) rows += put(8 * i, i, done[i]) == &done[i];
  EXPECT_GT(rows, 4u);
}

TEST_F(SmallAccessesTest, no_more_rows_are_in_flight_than_the_other_shall_queue) {
  std::vector<Done> done(1000);
  std::size_t started = 0;
  while (started < done.size() && put(8 * started, started, done[started]) != nullptr) ++started;
  EXPECT_LT(started, 100u);
  EXPECT_GT(started, 4u);
  all_arrive();
  EXPECT_NE(put(0, std::uint64_t{1}, done.back()), nullptr);
}

TEST_F(SmallAccessesTest, a_damaged_packet_is_refused) {
  Done done;
  std::uint64_t got = 0;
  const auto damaged_put = [&](std::uint64_t offset, const std::function<void(Row&)>& change) {
    put(offset, std::uint64_t{1}, done);
    return !is_taken(change);
  };
  const auto damaged_get = [&](const std::function<void(Row&)>& change) {
    get(0, got, done);
    return !is_taken(change);
  };
  EXPECT_TRUE(damaged_put(kSegment - 7, [](Row&) {}));
  EXPECT_TRUE(damaged_put(0, [](Row& packet) { packet.head.detail = 9; }));
  EXPECT_TRUE(damaged_put(0, [](Row& packet) { packet.head.detail = 0; }));
  EXPECT_TRUE(damaged_put(0, [](Row& packet) { packet.head.bytes -= 8; }));
  EXPECT_TRUE(damaged_put(0, [](Row& packet) { packet.head.bytes = sizeof packet; }));
  EXPECT_TRUE(damaged_get([](Row& packet) { packet.head.bytes = sizeof packet; }));
}

TEST_F(SmallAccessesTest, an_answer_to_nothing_is_refused) {
  Done done;
  std::uint64_t got = 0;
  const auto answered = [&](const std::function<void(Row&)>& change) {
    get(0, got, done);
    EXPECT_TRUE(is_taken([](Row&) {}));
    return is_taken(change);
  };
  EXPECT_FALSE(answered([](Row& packet) { packet.name ^= 1; }));
  EXPECT_FALSE(answered([](Row& packet) { packet.name += 1 << 16; }));
  EXPECT_FALSE(answered([](Row& packet) { packet.head.type = Type::kPutsDone; }));
  EXPECT_FALSE(answered([](Row& packet) { packet.head.detail = 4; }));
  EXPECT_FALSE(answered([](Row& packet) { packet.head.bytes += 8; }));
  EXPECT_EQ(done.times, 0);
  EXPECT_TRUE(answered([](Row&) {}));
  EXPECT_EQ(done.times, 1);
}

TEST_F(SmallAccessesTest, rows_of_a_process_that_has_died_end_and_leave_room_for_others) {
  link_.grows_by = 4 * sizeof(SmallStore);
  std::vector<Done> done(1000);
  std::uint64_t got = 0;
  const auto start_all = [&] {
    std::size_t started = 0;
    while (put(8 * started, started, done[started]) != nullptr) ++started;
    return started;
  };
  const std::size_t room = start_all();
  small_.end_rows_of_dead();
  EXPECT_FALSE(small_.idle()) << "it lives";
  router_.note_death(kOther, 1);
  small_.end_rows_of_dead();
  EXPECT_TRUE(small_.idle());
  EXPECT_EQ(get(0, got, done.back()), &done.back()) << "a row that has ended was joined";
  small_.end_rows_of_dead();
  EXPECT_EQ(done.back().times, 1);
  for (Done& one : done) {
    EXPECT_LE(one.times, 1);
    one.times = 0;
  }
  EXPECT_EQ(start_all(), room);
}

}  // namespace small_accesses_test
}  // namespace am::link
