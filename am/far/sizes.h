#pragma once

#include <algorithm>
#include <cstddef>

#include "am/link/link.h"

namespace am {

// The sizes, in bytes, up to which what goes to another node is put in packets. Longer ones are
// written or read by the network itself (RMA). When packets wait for others is the link's
// (am/link/fabric/send.cc).
struct Sizes {
  explicit Sizes(const link::Abilities& can) noexcept
      : before_packet(
            can.packet_write != 0
                ? can.packet_write
                : if_emulated(can, std::min<std::size_t>(can.frame_bytes - 1024, 32'768))),
        access(if_emulated(can, std::min<std::size_t>(can.frame_bytes / 2, 16'384))),
        store(std::max<std::size_t>(access, link::kMaxData)) {}

  // A payload of a long message of at most so many bytes is always in the message's own packet. One
  // of at most link::kMaxData is there unless the network can write payload and packet in one
  // operation (link::Queue::kTogether), which copies no byte twice.
  static constexpr std::size_t kCarried = 256;

  // The payload of a longer message, or a large store, in packets before the one that tells of it.
  const std::size_t before_packet;
  // A get or put of at most so many bytes goes in packets, but for the first few in flight, which
  // go by RMA.
  const std::size_t access;
  // A store.
  const std::size_t store;

 private:
  // Where each access costs a send anyway, copying so many bytes twice costs less than a send more.
  static std::size_t if_emulated(const link::Abilities& can, std::size_t bytes) noexcept {
    return can.emulated ? bytes : 0;
  }
};

}  // namespace am
