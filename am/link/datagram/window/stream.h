#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "am/link/packet.h"

namespace am::link::window {

// The packets in the datagrams from one source, which come once and in order. A packet that lies in
// one datagram is read there; one that goes on in the next is put together in memory of the stream.
//
// Pure logic. Thread rule: the link's. Allocates once, for the first packet in several datagrams.
class Stream {
 public:
  enum class Next : std::uint8_t {
    kPacket,   // packet() is one
    kEnd,      // all of the payload has been read
    kDamaged,  // what comes is no packet; nothing that follows is believed
  };

  // The payload of the next datagram, a multiple of 8 bytes; stays until next() says kEnd.
  void open(std::span<const std::byte> payload) noexcept { rest_ = payload; }

  // The packet after the last one that was skipped.
  Next next() noexcept {
    if (have_ != 0 || !whole()) return collect();
    packet_ = rest_.data();
    return Next::kPacket;
  }
  // The packet, which is as long as it says; valid until skip() and the next call.
  const PacketHeader& packet() const noexcept {
    return *reinterpret_cast<const PacketHeader*>(packet_);
  }
  // Goes on behind packet(), which may be read until next() is called.
  void skip() noexcept {
    if (have_ != 0) {
      have_ = 0;
    } else {
      rest_ = rest_.subspan(packet().bytes);
    }
  }
  // Nothing of a packet has come but what was skipped.
  bool between_packets() const noexcept { return have_ == 0 && rest_.empty(); }

 private:
  static std::size_t size_of(const std::byte* packet) noexcept {
    return reinterpret_cast<const PacketHeader*>(packet)->bytes;
  }
  static bool possible(std::size_t bytes) noexcept {
    return bytes >= sizeof(PacketHeader) && bytes <= kMaxPacket && bytes % 8 == 0;
  }
  bool whole() const noexcept {
    return rest_.size() >= sizeof(PacketHeader) && possible(size_of(rest_.data())) &&
           size_of(rest_.data()) <= rest_.size();
  }

  // A packet that was begun in an earlier datagram, or that does not end in this one.
  Next collect() noexcept {
    if (rest_.empty() && (have_ == 0 || have_ != size_of(made_->bytes))) return Next::kEnd;
    if (have_ == 0 && !possible(size_of(rest_.data()))) return Next::kDamaged;
    if (!made_) made_ = std::make_unique<Memory>();
    const std::size_t wanted = size_of(have_ == 0 ? rest_.data() : made_->bytes);
    const std::size_t some = std::min(rest_.size(), wanted - have_);
    std::memcpy(made_->bytes + have_, rest_.data(), some);
    have_ += some;
    rest_ = rest_.subspan(some);
    if (have_ != wanted) return Next::kEnd;
    packet_ = made_->bytes;
    return Next::kPacket;
  }

  struct Memory {
    alignas(8) std::byte bytes[kMaxPacket];
  };
  std::span<const std::byte> rest_;
  const std::byte* packet_ = nullptr;
  std::size_t have_ = 0;  // bytes in made_
  std::unique_ptr<Memory> made_;
};

}  // namespace am::link::window
