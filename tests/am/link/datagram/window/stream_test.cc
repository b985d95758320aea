#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "am/link/datagram/window/wire.h"
#include "tests/am/link/datagram/window/random.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

using Words = std::vector<std::uint64_t>;  // packets are aligned

void append(Words& words, std::size_t bytes, std::uint64_t content) {
  const std::size_t at = words.size();
  words.resize(at + bytes / 8, content);
  const PacketHeader head = make_header(Type::kBarrier, bytes);
  std::memcpy(&words[at], &head, sizeof head);
}

std::span<const std::byte> part(const Words& words, std::size_t from, std::size_t to) {
  return std::as_bytes(std::span(words)).subspan(8 * from, 8 * (to - from));
}

// Any packets, cut anywhere between words, come out as they were.
TEST(Stream, packets_are_put_together_wherever_they_were_cut) {
  Random random(test::seed());
  for (int round = 0; round < 2'000; ++round) {
    Words words;
    std::vector<std::size_t> sizes;
    for (std::uint64_t some = random.below(30); some != 0; --some) {
      const std::size_t most = random.percent(20) ? kMaxPacket : 64;
      sizes.push_back(8 + 8 * random.below(most / 8));
      append(words, sizes.back(), sizes.size());
    }
    Stream stream;
    std::size_t next = 0;
    for (std::size_t at = 0; at != words.size();) {
      const std::size_t end = std::min<std::size_t>(words.size(), at + 1 + random.below(80));
      stream.open(part(words, at, end));
      at = end;
      for (Stream::Next how = stream.next(); how != Stream::Next::kEnd; how = stream.next()) {
        ASSERT_EQ(how, Stream::Next::kPacket);
        if (random.percent(20)) {
          ASSERT_EQ(stream.next(), Stream::Next::kPacket);  // it waits until it is skipped
        }
        ASSERT_LT(next, sizes.size());
        ASSERT_EQ(stream.packet().bytes, sizes[next]);
        const auto* const content = reinterpret_cast<const std::uint64_t*>(&stream.packet());
        ++next;
        for (std::size_t i = 1; i < sizes[next - 1] / 8; ++i) ASSERT_EQ(content[i], next);
        stream.skip();
      }
    }
    EXPECT_EQ(next, sizes.size());
    EXPECT_TRUE(stream.between_packets());
  }
}

TEST(Stream, a_packet_in_one_datagram_is_not_copied) {
  Words words;
  append(words, 64, 1);
  Stream stream;
  stream.open(part(words, 0, words.size()));
  ASSERT_EQ(stream.next(), Stream::Next::kPacket);
  EXPECT_EQ(static_cast<const void*>(&stream.packet()), words.data());
}

TEST(Stream, sizes_that_no_packet_has_are_damage) {
  for (const std::uint16_t size : {0, 4, 7, 12, 9'000, 0xffff}) {
    PacketHeader head = make_header(Type::kBarrier, 8);
    head.bytes = size;
    Words words(16);
    std::memcpy(words.data(), &head, sizeof head);
    Stream stream;
    stream.open(part(words, 0, words.size()));
    EXPECT_EQ(stream.next(), Stream::Next::kDamaged) << size;
  }
}

}  // namespace
}  // namespace am::link::window
