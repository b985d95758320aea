// What has to be known of an IP packet to spoil the datagram in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace am::link::test {

// Whether it is a whole UDP datagram over IPv4, with something in it.
bool is_datagram(std::span<const std::byte> packet) noexcept;

// Changes a bit of what the datagram carries, or cuts it, so that no checksum of IP or UDP tells:
// the receiving kernel delivers it.
void damage(std::vector<std::byte>& packet, std::mt19937_64& random);

// The ones' complement sum of RFC 1071, as it stands in a header; 0 over one that is right.
std::uint16_t internet_checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace am::link::test
