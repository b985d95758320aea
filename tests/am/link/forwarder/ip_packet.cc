#include "tests/am/link/forwarder/ip_packet.h"

namespace am::link::test {
namespace {

// Where fields are, in bytes from the start of the IP header or of the UDP header.
constexpr std::size_t kIpLength = 2;
constexpr std::size_t kIpFragment = 6;
constexpr std::size_t kIpProtocol = 9;
constexpr std::size_t kIpChecksum = 10;
constexpr std::size_t kUdpLength = 4;
constexpr std::size_t kUdpChecksum = 6;
constexpr std::size_t kUdpHeader = 8;
constexpr unsigned kUdp = 17;

unsigned number(std::byte b) noexcept { return std::to_integer<unsigned>(b); }

unsigned get16(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return number(bytes[at]) << 8 | number(bytes[at + 1]);
}
void put16(std::span<std::byte> bytes, std::size_t at, std::size_t value) noexcept {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}
std::size_t ip_header_bytes(std::span<const std::byte> packet) noexcept {
  return (number(packet[0]) & 0xf) * 4;
}

}  // namespace

bool is_datagram(std::span<const std::byte> packet) noexcept {
  constexpr std::size_t kLeast = 20 + kUdpHeader;
  constexpr unsigned kFragment = 0x3fff;  // more of them follow, or this one does
  return packet.size() > kLeast && number(packet[0]) >> 4 == 4 &&
         number(packet[kIpProtocol]) == kUdp && (get16(packet, kIpFragment) & kFragment) == 0 &&
         packet.size() > ip_header_bytes(packet) + kUdpHeader;
}

std::uint16_t internet_checksum(std::span<const std::byte> bytes) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += number(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void damage(std::vector<std::byte>& packet, std::mt19937_64& random) {
  const std::size_t udp = ip_header_bytes(packet);
  const std::size_t data = udp + kUdpHeader;
  const std::size_t at = data + random() % (packet.size() - data);
  if (random() % 2 == 0) {
    packet.resize(at);
  } else {
    packet[at] ^= static_cast<std::byte>(1U << random() % 8);
  }
  put16(packet, kIpLength, packet.size());
  put16(packet, kIpChecksum, 0);
  put16(packet, kIpChecksum, internet_checksum(std::span(packet).first(udp)));
  put16(packet, udp + kUdpLength, packet.size() - udp);
  put16(packet, udp + kUdpChecksum, 0);  // 0: there is none
}

}  // namespace am::link::test
