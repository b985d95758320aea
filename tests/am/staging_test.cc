// Payloads that wait to be copied: that all come whole, and what memory they leave behind.
#include "am/route/staging.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace am {
namespace {

using Slot = std::array<std::byte, Staging::kInSlot>;
constexpr std::size_t kMiB = std::size_t{1} << 20;

std::vector<std::byte> payload(std::size_t bytes, int seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  }
  return made;
}

// Mappings of regions for payloads in this process.
int mapped() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("the payload of a long message") != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST(Staging, payloads_of_all_sizes_come_whole) {
  Staging sender, receiver;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, Staging::kInSlot, Staging::kInSlot + 1, std::size_t{65536},
        std::size_t{65537}, 4 * kMiB, 4 * kMiB + 1}) {
    Slot slot{};
    const std::vector<std::byte> sent = payload(bytes, 3);
    sender.put(slot.data(), sent);
    std::vector<std::byte> got(bytes);
    EXPECT_TRUE(receiver.take(slot.data(), got)) << bytes;
    EXPECT_EQ(got, sent) << bytes;
  }
}

TEST(Staging, of_many_large_ones_one_region_stays_at_each_end) {
  Staging sender, receiver;
  std::vector<std::byte> got;
  for (int i = 0; i < 20; ++i) {
    Slot slot{};
    const std::vector<std::byte> sent = payload((i % 2 == 0 ? 5 : 9) * kMiB, i);
    sender.put(slot.data(), sent);
    got.resize(sent.size());
    ASSERT_TRUE(receiver.take(slot.data(), got));
    EXPECT_EQ(got, sent);
    EXPECT_LE(mapped(), 2);
  }
}

TEST(Staging, those_that_wait_at_the_same_time_have_a_region_each) {
  constexpr int kMany = 8;
  Staging sender, receiver;
  std::array<Slot, kMany> slots{};
  for (int i = 0; i < kMany; ++i) {
    sender.put(slots[static_cast<std::size_t>(i)].data(), payload(5 * kMiB, i));
  }
  EXPECT_EQ(mapped(), kMany);
  std::vector<std::byte> got(5 * kMiB);
  for (int i = kMany; i-- > 0;) {
    ASSERT_TRUE(receiver.take(slots[static_cast<std::size_t>(i)].data(), got));
    EXPECT_EQ(got, payload(5 * kMiB, i));
  }
  Slot slot{};
  sender.put(slot.data(), payload(5 * kMiB, 1));
  EXPECT_LE(mapped(), 2);  // those that nothing waits in are gone
}

TEST(Staging, what_was_dropped_is_not_taken) {
  Staging sender, receiver;
  Slot slot{};
  std::vector<std::byte> got(kMiB);
  sender.put(slot.data(), payload(kMiB, 1));
  sender.drop(slot.data(), kMiB);
  EXPECT_FALSE(receiver.take(slot.data(), got));
  sender.put(slot.data(), payload(kMiB, 2));
  EXPECT_TRUE(receiver.take(slot.data(), got));
  EXPECT_FALSE(receiver.take(slot.data(), got));
}

}  // namespace
}  // namespace am
