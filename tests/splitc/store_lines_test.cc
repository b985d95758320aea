#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "splitc/world/segment.h"

namespace splitc {
namespace {

// A counter's memory, zero, between bytes that are not its own.
class Memory {
 public:
  explicit Memory(std::uint32_t near) : near_(near), all_(StoreLines::bytes(near) / 64 + 2) {
    all_.front() = all_.back() = foreign();
  }
  ~Memory() {
    const Line untouched = foreign();
    EXPECT_EQ(std::memcmp(&all_.front(), &untouched, sizeof untouched), 0);
    EXPECT_EQ(std::memcmp(&all_.back(), &untouched, sizeof untouched), 0);
  }
  StoreLines lines() { return {all_[1].bytes, near_}; }
  std::byte* begin() { return all_[1].bytes; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static Line foreign() {
    Line line;
    std::memset(line.bytes, 0x5a, sizeof line.bytes);
    return line;
  }

  const std::uint32_t near_;
  std::vector<Line> all_;
};

std::uint64_t seen_by(const StoreLines& lines, std::uint32_t& looks) {
  std::uint64_t sum = 0;
  lines.for_each_near([&](const StoreLine& line) {
    sum += line.bytes.load(std::memory_order_relaxed);
    ++looks;
  });
  return sum;
}

TEST(StoreLines, looks_at_those_who_have_stored) {
  std::mt19937_64 random(1);
  for (const std::uint32_t near : {1u, 2u, 63u, 64u, 65u, 512u, 513u, 2000u}) {
    Memory memory(near);
    const StoreLines lines = memory.lines();
    std::set<std::uint32_t> senders;
    std::uint64_t sent = 0;
    for (int i = 0; i < 40; ++i) {
      const auto index = i == 0 ? near - 1 : static_cast<std::uint32_t>(random() % near);
      EXPECT_EQ(lines.add(index), senders.insert(index).second);
      lines.of(index).bytes += index + 1;
      sent += index + 1;
      std::uint32_t looks = 0;
      EXPECT_EQ(seen_by(lines, looks), sent);
      EXPECT_EQ(looks, senders.size());
    }
  }
}

TEST(StoreLines, says_where_the_line_of_a_process_is) {
  Memory memory(100);
  for (const std::uint32_t index : {0u, 1u, 99u}) {
    EXPECT_EQ(reinterpret_cast<std::byte*>(&memory.lines().of(index)),
              memory.begin() + StoreLines::offset_of(index));
  }
  EXPECT_EQ(reinterpret_cast<std::byte*>(&memory.lines().far()), memory.begin());
}

// A counter takes what the processes of one node need, however many nodes there are.
TEST(StoreLines, are_as_many_as_the_processes_of_a_node) {
  EXPECT_EQ(StoreLines::bytes(64), 64u * (1 + 64 + 1));
  EXPECT_EQ(StoreLines::bytes(512), 64u * (1 + 512 + 1));
  EXPECT_EQ(StoreLines::bytes(513), 64u * (1 + 513 + 2));
}

}  // namespace
}  // namespace splitc
