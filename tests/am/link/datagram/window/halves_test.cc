// The sending and the receiving half, each against a model that is obviously right.
#include "am/link/datagram/window/halves.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include "tests/am/link/datagram/window/random.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

constexpr std::size_t kDatagram = 192;  // 128 bytes of payload

struct Memory {
  SlotPool::Slab operator()(std::size_t bytes) {
    all->push_back(std::make_unique<std::byte[]>(bytes));
    return {{all->back().get(), bytes}, nullptr};
  }
  std::shared_ptr<std::vector<std::unique_ptr<std::byte[]>>> all =
      std::make_shared<std::vector<std::unique_ptr<std::byte[]>>>();
};

class SenderTest : public testing::Test {
 protected:
  void put(std::uint32_t bytes) {
    std::memset(sender.claim(bytes), 0, bytes);
    sender.commit();
  }
  std::uint64_t send(std::int64_t now_ns) {
    Slot& slot = sender.next_new();
    sender.sent(slot, now_ns, false);
    return slot.number;
  }
  Acknowledged acknowledge(std::uint64_t ack, std::uint64_t bits = 0) {
    DatagramHeader header{};
    header.ack = static_cast<std::uint32_t>(ack);
    header.selective[0] = bits;
    EXPECT_TRUE(sender.plausible(header));
    return sender.acknowledge(header);
  }

  SlotPool pool{Memory{}, kDatagram};
  Staging staging;
  Sender sender{pool, staging, 1};
};

TEST_F(SenderTest, small_packets_share_a_datagram_until_it_is_sent) {
  put(24);
  put(64);
  put(40);
  EXPECT_EQ(sender.queued(), 1U);
  EXPECT_EQ(send(1), 1U);
  put(24);
  EXPECT_EQ(sender.queued(), 1U);
  EXPECT_EQ(sender.next_new().number, 2U);
}

TEST_F(SenderTest, a_large_packet_goes_on_in_the_next_datagrams) {
  put(24);
  put(kMaxPacket);
  // What is left of the first, then as many as it takes.
  EXPECT_EQ(sender.queued(), (24 + kMaxPacket + 127) / 128);
}

TEST(SenderOfLongDatagrams, the_first_that_waits_is_small_and_others_are_filled_as_it_is_said) {
  constexpr std::size_t kLong = 65'504;
  constexpr std::size_t kFill = 20'000;
  SlotPool pool{Memory{}, kLong};
  Staging staging;
  Sender sender(pool, staging, 1);
  sender.set_fill(kFill);
  constexpr std::uint32_t kPackets = 1'000;
  constexpr std::uint32_t kBytes = 104;
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    std::memset(sender.claim(kBytes), 0, kBytes);
    sender.commit();
  }
  EXPECT_EQ(sender.queued_bytes(), kPackets * kBytes);
  EXPECT_EQ(sender.next_new().memory.size(), SlotPool::kSmall);
  std::uint64_t charged = 0;
  for (std::size_t left = sender.queued(); left != 0; --left) {
    Slot& next = sender.next_new();
    EXPECT_LE(next.bytes, kFill);
    charged += charge(next.bytes);
    sender.sent(next, 1, false);
    EXPECT_EQ(sender.charged(), charged);
  }
  EXPECT_EQ(sender.queued_bytes(), 0U);
  EXPECT_EQ(sender.next(), 1U + 1 + 6);
  DatagramHeader header{};
  header.ack = static_cast<std::uint32_t>(sender.next());
  sender.acknowledge(header);
  EXPECT_EQ(sender.charged(), 0U);
}

// In the middle of a packet the source of memory has no more.
TEST(SenderWithoutMemory, a_packet_is_queued_whole_or_not_at_all) {
  for (std::size_t slabs = 0; slabs != 4; ++slabs) {
    Memory memory;
    std::size_t left = slabs;
    SlotPool pool(
        [&](std::size_t bytes) {
          if (left == 0) throw std::bad_alloc();
          --left;
          return memory(bytes);
        },
        kDatagram);
    Staging staging;
    Sender sender(pool, staging, 1);
    std::size_t packets = 0;
    for (bool more = true; more; packets += more ? 1 : 0) {
      try {
        sender.claim(kMaxPacket);
        sender.commit();
      } catch (const std::bad_alloc&) {
        more = false;
      }
    }
    std::size_t bytes = 0;
    while (sender.has_new()) {
      Slot& next = sender.next_new();
      bytes += next.payload().size();
      sender.sent(next, 1, false);
    }
    EXPECT_EQ(bytes, packets * kMaxPacket) << slabs << " slabs";
  }
}

TEST_F(SenderTest, what_was_never_sent_cannot_be_acknowledged) {
  put(128);
  put(128);
  send(1);
  DatagramHeader header{};
  header.ack = 2;
  EXPECT_TRUE(sender.plausible(header));
  header.ack = 3;
  EXPECT_FALSE(sender.plausible(header));
  header.ack = 1;
  header.selective[0] = 1;  // number 2
  EXPECT_FALSE(sender.plausible(header));
  header.ack = 0xffff'ff00;
  EXPECT_FALSE(sender.plausible(header));
}

TEST_F(SenderTest, memory_comes_back_when_it_is_acknowledged_and_read) {
  put(128);
  put(128);
  Slot& first = sender.next_new();
  sender.sent(first, 1, true);
  send(2);
  EXPECT_EQ(acknowledge(3).count, 2U);
  EXPECT_FALSE(sender.unacknowledged());
  EXPECT_EQ(pool.in_use(), 1U);  // the network still reads it
  sender.completed(first);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(SenderTest, what_the_network_reads_is_not_sent_again) {
  put(128);
  Slot& first = sender.next_new();
  sender.sent(first, 1, true);
  EXPECT_FALSE(sender.repeat_oldest());
  sender.completed(first);
  EXPECT_TRUE(sender.repeat_oldest());
  EXPECT_EQ(sender.next_lost(), &first);
}

TEST_F(SenderTest, lost_is_what_was_sent_before_something_that_arrived) {
  for (int i = 0; i < 4; ++i) put(128);
  for (std::int64_t now = 10; now <= 40; now += 10) send(now);
  acknowledge(1, 0b010);  // number 3, sent at 30
  std::vector<std::uint64_t> lost;
  const auto note = [&](const Slot& slot) { lost.push_back(slot.number); };
  EXPECT_EQ(sender.find_lost(30, 50, 100, note), 110);  // too early to say
  EXPECT_TRUE(lost.empty());
  EXPECT_EQ(sender.find_lost(30, 110, 100, note), 120);
  EXPECT_EQ(sender.find_lost(30, 120, 100, note), -1);
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{1, 2}));
}

// Random packets, losses and acknowledgements, against sets of numbers.
TEST_F(SenderTest, agrees_with_sets_of_numbers) {
  Random random(test::seed());
  std::set<std::uint64_t> flying;
  std::set<std::uint64_t> arrived;
  std::uint64_t sent = 0;
  for (std::int64_t now = 1; now < 20'000; ++now) {
    if (sender.queued() < 8) put(128);
    if (sent < 100 + (arrived.empty() ? 0 : *arrived.begin()) && sender.in_flight() < 60 &&
        sender.next() < sender.first() + kWindow) {
      flying.insert(sent = send(now));
    }
    if (random.percent(30) && sender.repeat_oldest()) {
      Slot* const slot = sender.next_lost();
      ASSERT_NE(slot, nullptr);
      ASSERT_TRUE(flying.contains(slot->number));
      ASSERT_EQ(slot->number, *flying.begin());
      sender.sent(*slot, now, false);
    }
    if (!random.percent(40) || flying.empty()) continue;
    std::uint64_t number = *flying.begin();
    for (const std::uint64_t one : flying) {
      if (random.percent(20)) number = one;
    }
    const std::uint64_t ack = *flying.begin();
    if (number == ack) {
      acknowledge(ack + 1);
    } else if (number - ack - 1 < 64) {
      acknowledge(ack, std::uint64_t{1} << (number - ack - 1));
    } else {
      continue;
    }
    flying.erase(number);
    ASSERT_EQ(sender.in_flight(), flying.size());
    ASSERT_EQ(sender.first(), flying.empty() ? sender.next() : *flying.begin());
  }
}

TEST(SlotPool, memory_of_a_flood_is_let_go_when_it_was_not_needed_for_long) {
  std::size_t slabs = 0;
  SlotPool pool(
      [&slabs](std::size_t bytes) {
        const auto made = std::make_shared<std::vector<std::byte>>(bytes);
        ++slabs;
        const std::shared_ptr<void> owner(nullptr, [&slabs, made](void*) { --slabs; });
        return SlotPool::Slab{*made, nullptr, owner};
      },
      kDatagram);
  constexpr std::size_t kLeast = 4 * SlotPool::kSlab * kDatagram;
  std::vector<Slot*> taken;
  for (std::size_t i = 0; i < 100 * SlotPool::kSlab; ++i) taken.push_back(pool.take(kDatagram));
  Slot* const kept = taken[50 * SlotPool::kSlab];
  for (Slot* const one : taken) {
    if (one != kept) pool.give_back(*one);
  }
  pool.trim(kLeast);
  EXPECT_EQ(slabs, 100U);  // it was needed just now
  pool.trim(kLeast);
  EXPECT_EQ(slabs, 4U);
  EXPECT_EQ(pool.in_use(), 1U);
  std::memset(kept->memory.data(), 1, kept->memory.size());  // a sanitizer sees whether it is there
  pool.give_back(*kept);
  pool.trim(0);
  pool.trim(0);
  EXPECT_EQ(slabs, 0U);
  EXPECT_NE(pool.take(kDatagram), nullptr);
}

TEST(SlotPool, short_datagrams_take_small_slots) {
  constexpr std::size_t kLong = 65'504;
  SlotPool pool(Memory{}, kLong, SlotPool::kSlab * (kLong + SlotPool::kSmall));
  Slot* const small = pool.take(100);
  Slot* const large = pool.take(SlotPool::kSmall + 1);
  EXPECT_EQ(small->memory.size(), SlotPool::kSmall);
  EXPECT_EQ(large->memory.size(), kLong);
  EXPECT_EQ(pool.bytes(), SlotPool::kSlab * (kLong + SlotPool::kSmall));
  for (std::size_t i = 1; i != SlotPool::kSlab; ++i) EXPECT_NE(pool.take(kLong), nullptr);
  EXPECT_EQ(pool.take(kLong), nullptr);  // the limit
  pool.give_back(*small);
  pool.give_back(*large);
  EXPECT_EQ(pool.take(kLong), large);
  EXPECT_EQ(pool.take(100), small);
}

// Numbers in any order, more than once: each is delivered once, in order.
TEST(Receiver, delivers_each_once_and_in_order_in_whichever_order_they_come) {
  Random random(test::seed());
  for (int round = 0; round < 500; ++round) {
    SlotPool pool(Memory{}, kDatagram, kDatagram * (random.percent(50) ? 64 : 512));
    const std::uint64_t first = random.percent(50) ? 1 : (std::uint64_t{1} << 32) - 20;
    Receiver receiver(pool, first);
    std::uint64_t next = first;
    for (int step = 0; step < 600; ++step) {
      const std::uint64_t number =
          random.percent(20) ? next
                             : next + random.below(140) - std::min<std::uint64_t>(next - first, 20);
      const std::uint64_t content = number;
      Datagram datagram{};
      datagram.header.number = static_cast<std::uint32_t>(number);
      datagram.payload = std::as_bytes(std::span(&content, 1));
      const bool may_deliver = random.percent(80);
      const Receiver::Arrival how = receiver.arrive(datagram, may_deliver);
      if (how == Receiver::Arrival::kNext) {
        ASSERT_EQ(number, next);
        ++next;
      }
      if (number < next && how != Receiver::Arrival::kNext) {
        ASSERT_EQ(how, Receiver::Arrival::kDuplicate);
      }
      if (number >= next + kWindow) {
        ASSERT_EQ(how, Receiver::Arrival::kBeyond);
      }
      while (may_deliver) {
        Slot* const slot = receiver.next_kept();
        if (slot == nullptr) break;
        std::uint64_t read = 0;
        std::memcpy(&read, slot->payload().data(), sizeof read);
        ASSERT_EQ(read, next);
        ++next;
        pool.give_back(*slot);
      }
      ASSERT_EQ(receiver.kept(), pool.in_use());
      ASSERT_LE(receiver.room(), kWindow);
    }
    EXPECT_GT(next, first);
  }
}

TEST(Receiver, says_which_numbers_have_come_early) {
  SlotPool pool(Memory{}, kDatagram);
  Receiver receiver(pool, 1);
  const std::uint64_t content = 0;
  const auto arrive = [&](std::uint32_t number) {
    Datagram datagram{};
    datagram.header.number = number;
    datagram.payload = std::as_bytes(std::span(&content, 1));
    return receiver.arrive(datagram, true);
  };
  EXPECT_EQ(arrive(2), Receiver::Arrival::kKept);
  EXPECT_EQ(arrive(4), Receiver::Arrival::kKept);
  EXPECT_EQ(arrive(70), Receiver::Arrival::kKept);
  EXPECT_EQ(arrive(128), Receiver::Arrival::kKept);
  EXPECT_EQ(arrive(129), Receiver::Arrival::kBeyond);
  EXPECT_EQ(receiver.arrived(), 1U);
  EXPECT_EQ(receiver.selective(0), 0b101U);
  EXPECT_EQ(receiver.selective(1), std::uint64_t{1} << 4 | std::uint64_t{1} << 62);
  EXPECT_EQ(arrive(1), Receiver::Arrival::kNext);
  EXPECT_EQ(receiver.arrived(), 3U);
  EXPECT_EQ(receiver.selective(0), 1U);
}

}  // namespace
}  // namespace am::link::window
