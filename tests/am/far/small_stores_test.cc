// Stores of a few bytes, several of which share a packet.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "am/far/one_sided.h"
#include "am/far/packets.h"
#include "am/route/router.h"
#include "shmem/region.h"
#include "tests/am/far/fake_link.h"

namespace am::link {
namespace small_stores_test {

constexpr std::uint64_t kSegment = 1 << 16;
constexpr std::uint64_t kCounter = 1024;
constexpr std::uint32_t kFirst = sizeof(Stores) + sizeof(SmallStore);

class SmallStores : public ::testing::Test {
 protected:
  SmallStores()
      : router_({.size = 2, .segment_bytes = kSegment, .abort = {}, .watch = {}},
                shmem::Region::create({.what = "a segment that is stored to",
                                       .bytes = RegionHeader::kBytes + kSegment})),
        tails_(link_, router_.size()),
        memory_(router_, link_, tails_) {}

  // As RemoteMemory does it.
  template <class T>
  void store(std::uint64_t offset, T value, std::uint64_t counter = kCounter) {
    const auto data = std::as_bytes(std::span(&value, 1));
    if (memory_.try_append(1, offset, data, counter)) return;
    EXPECT_TRUE(memory_.try_store(1, offset, data, counter));
  }
  // The packets that are sent arrive in this process's own segment.
  bool all_arrive() {
    bool taken = true;
    for (FakeLink::Packet& packet : link_.sent) {
      taken &= memory_.take_stores(1, *reinterpret_cast<const Stores*>(packet.bytes.data()));
    }
    return taken;
  }
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, router_.segment() + offset, sizeof value);
    return value;
  }
  bool is_taken(const std::function<void(Stores&, SmallStore&)>& change) {
    struct {
      Stores head{make_header(Type::kStores, kFirst, 0, 8), kCounter};
      SmallStore store{.offset = 64, .data = {}};
    } packet;
    change(packet.head, packet.store);
    return memory_.take_stores(1, packet.head);
  }

  using FakeLink = test::FakeLink;
  FakeLink link_;
  Router router_;
  Tails tails_;
  OneSided memory_;
};

TEST_F(SmallStores, share_a_packet_and_are_counted_together) {
  link_.grows_by = 100 * sizeof(SmallStore);
  for (std::uint64_t i = 0; i < 100; ++i) store(8 * i, ~i);
  ASSERT_EQ(link_.sent.size(), 1u);
  EXPECT_EQ(link_.tail_bytes, sizeof(Stores) + 100 * sizeof(SmallStore));
  EXPECT_EQ(link_.tail_commits, 99u);
  EXPECT_TRUE(all_arrive());
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(at<std::uint64_t>(8 * i), ~i);
  EXPECT_EQ(at<std::uint64_t>(kCounter), 800u);
}

TEST_F(SmallStores, begin_another_packet_for_another_size_or_counter_and_when_it_is_full) {
  link_.grows_by = 2 * sizeof(SmallStore);
  for (std::uint64_t i = 0; i < 4; ++i) store(8 * i, i + 1);  // three and one
  store<std::uint32_t>(100, 7);
  store<std::uint32_t>(104, 8, kCounter + 8);
  store<std::uint16_t>(108, 9, kCounter + 8);
  store<std::uint8_t>(110, 10, kCounter + 8);
  EXPECT_EQ(link_.sent.size(), 6u);
  EXPECT_TRUE(all_arrive());
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(at<std::uint64_t>(8 * i), i + 1);
  EXPECT_EQ(at<std::uint32_t>(100), 7u);
  EXPECT_EQ(at<std::uint32_t>(104), 8u);
  EXPECT_EQ(at<std::uint16_t>(108), 9u);
  EXPECT_EQ(at<std::uint8_t>(110), 10u);
  EXPECT_EQ(at<std::uint8_t>(111), 0u) << "a byte too many";
  EXPECT_EQ(at<std::uint64_t>(kCounter), 36u);
  EXPECT_EQ(at<std::uint64_t>(kCounter + 8), 7u);
}

TEST_F(SmallStores, do_not_keep_a_packet_back_for_ever) {
  link_.grows_by = 1000 * sizeof(SmallStore);
  link_.grows_until = 0;
  for (std::uint64_t i = 0; i < 200; ++i) store(8 * (i % 100), i);
  EXPECT_GT(link_.sent.size(), 4u);
}

// Of a program that computes between a few stores and the next ones, and does not poll.
TEST_F(SmallStores, leave_with_those_that_come_when_time_is_over) {
  link_.grows_by = 1000 * sizeof(SmallStore);
  for (std::uint64_t i = 0; i < 3; ++i) store(8 * i, i);
  ASSERT_EQ(link_.sent.size(), 1u);
  link_.grow_until(0);
  for (std::uint64_t i = 3; i < 6; ++i) store(8 * i, i);
  EXPECT_GT(link_.sent.size(), 1u);
}

TEST_F(SmallStores, leave_alone_where_packets_cannot_grow) {
  for (std::uint64_t i = 0; i < 3; ++i) store(8 * i, i);
  ASSERT_EQ(link_.sent.size(), 3u);
  for (const FakeLink::Packet& packet : link_.sent) EXPECT_EQ(packet.bytes.size(), kFirst);
  EXPECT_TRUE(all_arrive());
  EXPECT_EQ(at<std::uint64_t>(16), 2u);
}

TEST_F(SmallStores, are_refused_when_the_packet_is_damaged) {
  EXPECT_TRUE(is_taken([](Stores&, SmallStore&) {}));
  EXPECT_TRUE(is_taken([](Stores&, SmallStore& store) { store.offset = kSegment - 8; }));
  EXPECT_FALSE(is_taken([](Stores&, SmallStore& store) { store.offset = kSegment - 7; }));
  EXPECT_FALSE(is_taken([](Stores&, SmallStore& store) { store.offset = ~std::uint64_t{0}; }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.counter += 4; }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.counter = kSegment; }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.head.detail = 0; }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.head.detail = 9; }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.head.bytes = sizeof(Stores); }));
  EXPECT_FALSE(is_taken([](Stores& head, SmallStore&) { head.head.bytes -= 8; }));
}

}  // namespace small_stores_test
}  // namespace am::link
