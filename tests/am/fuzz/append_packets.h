#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "am/link/packet.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {

// Packets of these sizes, in bytes, as they follow one another in a frame and in a datagram.
inline void append_packets(Bytes& bytes, std::initializer_list<std::uint16_t> sizes) {
  for (const std::uint16_t size : sizes) {
    const std::size_t at = bytes.size();
    bytes.resize(at + size);
    const link::PacketHeader head = link::make_header(link::Type::kBarrier, size);
    std::memcpy(bytes.data() + at, &head, sizeof head);
  }
}

}  // namespace am::fuzz
