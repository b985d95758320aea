#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "am/link/datagram/window/seal.h"
#include "am/link/packet.h"
#include "am/types/types.h"

// The format of a datagram. docs/datagram.md has the protocol.
//
// A datagram is a header of 64 bytes and a payload: a piece of the stream of packets from its
// source to its receiver, a multiple of 8 bytes long, or nothing. Numbers are in the byte order of
// the machine, as everything in am/link/packet.h.

namespace am::link::window {

// How many numbered datagrams may be in flight to one receiver, beginning with the first one that
// it has not delivered. The selective acknowledgement has a bit for each of them.
inline constexpr std::uint32_t kWindow = 128;

// What a datagram takes where its receiver's system keeps it, as Linux counts that: up to 16 KiB it
// gets memory of a power of two. At least so much.
inline constexpr std::uint32_t charge(std::uint32_t bytes) noexcept {
  constexpr std::uint32_t kLargest = 16'384;
  const std::uint32_t kept = bytes + 384;
  return (kept <= kLargest ? std::bit_ceil(kept) : kept) + 512;
}

struct DatagramHeader {
  // Flags.
  static constexpr std::uint8_t kData = 1;          // there is a payload, which `number` counts
  static constexpr std::uint8_t kProbe = 2;         // acknowledge at once
  static constexpr std::uint8_t kVersion = 2 << 4;  // always
  static constexpr std::uint32_t kRoomUnit = 1024;

  std::uint64_t seal;          // keyed checksum of all that follows, by the receiver's key
  Rank source;                 // rank of the sender
  std::uint32_t incarnation;   // of the source: another one each time that it starts
  std::uint32_t number;        // of the payload: the low 32 bits; 0 where there is none
  std::uint32_t ack;           // all numbers before this have arrived at the source
  std::uint64_t selective[2];  // bit i of word i / 64: so has number ack + 1 + i
  std::uint64_t sent_ns;       // when it was sent, by the clock of the source; never 0
  std::uint64_t echo_ns;       // sent_ns of the latest that the source has received; 0: none
  std::uint32_t held_ns;       // how long ago that was; kHeldLong: longer than can be said
  std::uint16_t room;          // kRoomUnit bytes, by charge(): all from `ack` on may take so much
  std::uint8_t limit;          // numbers from ack on that the source has room for
  std::uint8_t flags;
};
static_assert(sizeof(DatagramHeader) == 64);
static_assert(offsetof(DatagramHeader, source) == 8);
static_assert(offsetof(DatagramHeader, number) == 16);
static_assert(offsetof(DatagramHeader, ack) == 20);
static_assert(offsetof(DatagramHeader, selective) == 24);
static_assert(offsetof(DatagramHeader, sent_ns) == 40);
static_assert(offsetof(DatagramHeader, echo_ns) == 48);
static_assert(offsetof(DatagramHeader, held_ns) == 56);
static_assert(offsetof(DatagramHeader, room) == 60);
static_assert(offsetof(DatagramHeader, limit) == 62);
static_assert(offsetof(DatagramHeader, flags) == 63);
static_assert(8 * sizeof(DatagramHeader::selective) == kWindow);

inline constexpr std::uint32_t kHeldLong = ~std::uint32_t{0};

// The shortest datagram that a network must carry.
inline constexpr std::size_t kMinDatagram = sizeof(DatagramHeader) + 64;

// The number of which `low` are the low 32 bits and that is closest to `near`.
inline constexpr std::uint64_t widen(std::uint32_t low, std::uint64_t near) noexcept {
  const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(std::int64_t{ahead});
}

// A datagram that has been checked. The payload lies in the datagram.
struct Datagram {
  DatagramHeader header;
  std::span<const std::byte> payload;
};

enum class Decoded : std::uint8_t {
  kGood,
  kForged,     // too short for a header, or without the right seal: of a stranger, or damaged
  kMalformed,  // sealed, and not a datagram of this protocol
};

// Checks the datagram that `bytes` are, and reads it. `datagram` is valid if kGood. Its source may
// still be no rank of the job.
inline Decoded decode(std::span<const std::byte> bytes, const Seal& seal,
                      Datagram& datagram) noexcept {
  DatagramHeader& header = datagram.header;
  if (bytes.size() < sizeof header) return Decoded::kForged;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.seal != seal(bytes.subspan(sizeof header.seal))) return Decoded::kForged;
  datagram.payload = bytes.subspan(sizeof header);
  const bool has_data = (header.flags & DatagramHeader::kData) != 0;
  const bool consistent = (header.flags & 0xf0) == DatagramHeader::kVersion &&
                          header.sent_ns != 0 && has_data != datagram.payload.empty() &&
                          datagram.payload.size() % 8 == 0;
  return consistent ? Decoded::kGood : Decoded::kMalformed;
}

// Writes `header` with its seal to the beginning of `bytes`, which end with the payload.
inline void encode(std::span<std::byte> bytes, DatagramHeader& header, const Seal& seal) noexcept {
  std::memcpy(bytes.data(), &header, sizeof header);
  header.seal = seal(bytes.subspan(sizeof header.seal));
  std::memcpy(bytes.data(), &header.seal, sizeof header.seal);
}

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
