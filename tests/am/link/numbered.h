// Packets for tests of links: a number, and bytes that follow from it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/link/link.h"
#include "am/link/packet.h"

namespace am::link::test {

struct Numbered {
  PacketHeader head;
  std::uint64_t number;
};

inline std::byte data_byte(std::uint64_t number, std::size_t at) {
  return static_cast<std::byte>(number * 31 + at * 7);
}

// Sends one with `bytes` of data; with `more`, another one follows.
inline void send_numbered(Link& link, Rank to, std::uint64_t number, std::uint16_t bytes, Type type,
                          bool more = false) {
  const auto total = static_cast<std::uint16_t>(sizeof(Numbered) + rounded(bytes));
  std::byte* const at = link.claim(to, total);
  const Numbered packet{make_header(type, total, bytes), number};
  std::memcpy(at, &packet, sizeof packet);
  for (std::size_t i = 0; i < bytes; ++i) at[sizeof packet + i] = data_byte(number, i);
  if (more) {
    link.commit(to, Next::kSoon);
  } else {
    link.commit(to);
  }
}

// The number of one that has come. Fails the test unless it is whole.
inline std::uint64_t number_of(const PacketHeader& head) {
  const auto& packet = reinterpret_cast<const Numbered&>(head);
  const auto* const data = reinterpret_cast<const std::byte*>(&packet + 1);
  EXPECT_EQ(head.bytes, sizeof packet + rounded(head.data_bytes));
  std::size_t whole = 0;
  while (whole < head.data_bytes && data[whole] == data_byte(packet.number, whole)) ++whole;
  EXPECT_EQ(whole, head.data_bytes) << "packet " << packet.number;
  return packet.number;
}

}  // namespace am::link::test
