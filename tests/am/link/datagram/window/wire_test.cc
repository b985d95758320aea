#include "am/link/datagram/window/wire.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/am/link/datagram/window/random.h"
#include "tests/am/link/datagram/window/test_seal.h"
#include "tests/support/seed.h"

namespace am::link::window {
namespace {

const Seal kSeal = test_seal(0x0123456789abcdef);

std::vector<std::byte> datagram(DatagramHeader header, std::size_t payload) {
  std::vector<std::byte> bytes(sizeof header + payload, std::byte{0x5a});
  encode(bytes, header, kSeal);
  return bytes;
}

DatagramHeader header_of(std::uint8_t flags) {
  DatagramHeader header{};
  header.source = 3;
  header.incarnation = 7;
  header.number = 11;
  header.sent_ns = 1;
  header.flags = flags | DatagramHeader::kVersion;
  return header;
}

TEST(Wire, what_was_encoded_is_decoded) {
  const auto bytes = datagram(header_of(DatagramHeader::kData), 48);
  Datagram read{};
  ASSERT_EQ(decode(bytes, kSeal, read), Decoded::kGood);
  EXPECT_EQ(read.header.source, 3U);
  EXPECT_EQ(read.header.incarnation, 7U);
  EXPECT_EQ(read.header.number, 11U);
  EXPECT_EQ(read.payload.size(), 48U);
  EXPECT_EQ(read.payload.data(), bytes.data() + sizeof(DatagramHeader));
}

TEST(Wire, another_key_makes_a_forgery) {
  const auto bytes = datagram(header_of(DatagramHeader::kData), 48);
  Datagram read{};
  EXPECT_EQ(decode(bytes, test_seal(1), read), Decoded::kForged);
}

TEST(Wire, each_bit_counts) {
  const auto good = datagram(header_of(DatagramHeader::kData), 24);
  for (std::size_t bit = 0; bit != 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    Datagram read{};
    EXPECT_EQ(decode(bytes, kSeal, read), Decoded::kForged) << "bit " << bit;
  }
}

TEST(Wire, each_length_but_the_whole_is_a_forgery) {
  auto bytes = datagram(header_of(DatagramHeader::kData), 24);
  while (!bytes.empty()) {
    bytes.pop_back();
    Datagram read{};
    EXPECT_EQ(decode(bytes, kSeal, read), Decoded::kForged) << bytes.size() << " bytes";
  }
}

TEST(Wire, what_contradicts_itself_is_malformed) {
  Datagram read{};
  const auto how = [&](DatagramHeader header, std::size_t payload) {
    return decode(datagram(header, payload), kSeal, read);
  };
  EXPECT_EQ(how(header_of(DatagramHeader::kData), 0), Decoded::kMalformed);
  EXPECT_EQ(how(header_of(0), 8), Decoded::kMalformed);
  EXPECT_EQ(how(header_of(DatagramHeader::kData), 12), Decoded::kMalformed);
  DatagramHeader header = header_of(0);
  header.flags = DatagramHeader::kVersion + (1 << 4);
  EXPECT_EQ(how(header, 0), Decoded::kMalformed);
  header = header_of(0);
  header.sent_ns = 0;
  EXPECT_EQ(how(header, 0), Decoded::kMalformed);
  EXPECT_EQ(how(header_of(DatagramHeader::kProbe), 0), Decoded::kGood);
}

TEST(Wire, a_datagram_takes_more_than_its_length) {
  std::uint32_t before = 0;
  for (std::uint32_t bytes = 0; bytes < 65'536; ++bytes) {
    EXPECT_GE(charge(bytes), std::max(bytes + 832, before)) << bytes;
    before = charge(bytes);
  }
}

TEST(Wire, numbers_are_widened_to_the_closest) {
  Random random(test::seed());
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t near = (std::uint64_t{1} << 40) + random.next() % (std::uint64_t{1} << 40);
    const std::int64_t away = random.between(-2'000'000'000, 2'000'000'000);
    const std::uint64_t number = near + static_cast<std::uint64_t>(away);
    EXPECT_EQ(widen(static_cast<std::uint32_t>(number), near), number);
  }
}

}  // namespace
}  // namespace am::link::window
