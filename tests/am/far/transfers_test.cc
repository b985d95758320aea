// Writes and the packets that tell of them: whatever the link has room for, bytes come first.
#include "am/far/transfers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "am/far/one_sided.h"
#include "am/far/packets.h"
#include "am/link/link.h"
#include "am/route/router.h"
#include "shmem/region.h"
#include "tests/am/far/fake_link.h"

namespace am::link {
namespace transfers_test {

constexpr std::uint64_t kSegment = 1 << 16;

Abilities plain_tcp() {
  Abilities can;
  can.frame_bytes = 66'560;
  can.emulated = true;
  can.rma = true;
  can.ordered_write = 1 << 20;
  return can;
}

// A link that says that write and packet are best one operation, as when nothing has left for some
// time, and has no room for that when it is tried.
class Transfers : public testing::Test {
 protected:
  Transfers()
      : router_({.size = 2, .segment_bytes = kSegment, .abort = {}, .watch = {}},
                shmem::Region::create({.what = "a segment that is written to",
                                       .bytes = RegionHeader::kBytes + kSegment})),
        tails_(link_, router_.size()),
        one_sided_(router_, link_, tails_),
        transfers_(link_, one_sided_) {
    link_.queued = Queue::kTogether;
    link_.takes_access = [this](const RmaAccess& access) {
      tried_.push_back(access.kind);
      return access.kind != RmaAccess::kWriteWithPacket && has_room_;
    };
  }

  void start() {
    const Count packet{make_header(Type::kCount, sizeof packet), 0, data_.size()};
    transfers_.start_copy(1, 64, data_, std::as_bytes(std::span(&packet, 1)));
  }
  bool told() const {
    for (const test::FakeLink::Packet& packet : link_.sent) {
      if (reinterpret_cast<const PacketHeader*>(packet.bytes.data())->type == Type::kCount)
        return true;
    }
    return false;
  }

  test::FakeLink link_{plain_tcp()};
  Router router_;
  Tails tails_;
  OneSided one_sided_;
  am::Transfers transfers_;
  std::vector<std::byte> data_ = std::vector<std::byte>(10'000, std::byte{7});
  std::vector<RmaAccess::Kind> tried_;
  bool has_room_ = true;
};

TEST_F(Transfers, write_first_where_a_packet_comes_behind_a_write) {
  start();
  ASSERT_EQ(tried_.size(), 2u);
  EXPECT_EQ(tried_.back(), RmaAccess::kWriteBeforePackets);
  EXPECT_EQ(link_.sent.size(), 1u);
  EXPECT_TRUE(told());
}

TEST_F(Transfers, tell_nobody_while_there_is_no_room_for_the_write) {
  has_room_ = false;
  start();
  transfers_.resume();
  // Packets could carry the bytes, but might wait for room themselves while this one leaves.
  EXPECT_TRUE(link_.sent.empty());
  has_room_ = true;
  transfers_.resume();
  EXPECT_EQ(tried_.back(), RmaAccess::kWriteBeforePackets);
  EXPECT_TRUE(told());
}

TEST_F(Transfers, do_not_overtake_earlier_bytes_that_wait_in_packets) {
  // So much by packets that more has to wait for answers.
  std::vector<std::byte> much(16'384);
  std::vector<Completion> done(80);
  has_room_ = false;  // for RMA
  for (Completion& one : done) {
    one.done = [](Completion&) {};
    ASSERT_TRUE(one_sided_.try_access(RmaAccess::write(1, RemoteKey::in_segment(0), much), one));
  }
  const std::size_t before = link_.sent.size();
  start();
  EXPECT_EQ(link_.sent.size(), before);
  EXPECT_FALSE(told());
}

}  // namespace transfers_test
}  // namespace am::link
