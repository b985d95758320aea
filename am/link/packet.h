#pragma once

#include <cstddef>
#include <cstdint>

#include "am/types.h"

// Every byte that crosses from one node to another.
//
// What is sent at a time is a frame: a header, and packets one behind the other. Everything is in
// the order of bytes of the processes, which run on machines of one kind, and begins at a multiple
// of 8 bytes from where its frame begins.

namespace am::link {

struct FrameHeader {
  std::uint32_t cookie;  // the receiver's own, which it gave only to its job
  Rank source;
};
static_assert(sizeof(FrameHeader) == 8);

enum class Type : std::uint8_t {
  kHello,     // Introduction: a translation begins to send
  kExtent,    // Introduction: the sender's segment (of the endpoint) is another, or the answer to
              // kHello
  kRequest,   // MessagePacket
  kOneWay,    // MessagePacket
  kReply,     // MessagePacket
  kReturned,  // MessagePacket, as it was sent but for its header: it could not be delivered
  kCredits,   // MessagePacket without arguments: one-way requests have been read
  kFlush,     // MessagePacket without arguments: send kCredits now
  kGoodbye,   // MessagePacket without arguments: the translation sends no more
  kBarrier,   // Barrier
  kStore,     // Access with data
  kCount,     // Count: of a store whose data has been written before
  kPut,       // Access with data; answered by kPutDone
  kGet,       // Access without data; answered by kGot
  kPutDone,   // Access without data
  kGot,       // Access with data
  kChannel,   // Access with data: a piece of a put on a channel
  kRelay,     // Access with a ChannelHandle: pass on there what comes on a channel
  kRelayed,   // PacketHeader: all that was to be passed on will be
  kLearn,     // Learn: a store repeats
  kLearned,   // Learn: it may be put
};
// How every packet begins.
struct PacketHeader {
  std::uint16_t bytes;  // of the whole packet, a multiple of 8
  Type type;
  std::uint8_t detail;       // by type
  std::uint16_t data_bytes;  // payload or data that the packet ends with, less what rounds it up
  std::uint8_t handler;      // of a message
  std::uint8_t words;        // of arguments
};
static_assert(sizeof(PacketHeader) == 8);

// That of a packet which is no message: `bytes` long, the data's rounding included.
inline constexpr PacketHeader make_header(Type type, std::size_t bytes, std::size_t data_bytes = 0,
                                          std::uint8_t detail = 0) noexcept {
  return {.bytes = static_cast<std::uint16_t>(bytes),
          .type = type,
          .detail = detail,
          .data_bytes = static_cast<std::uint16_t>(data_bytes),
          .handler = 0,
          .words = 0};
}

// Between a translation of one endpoint (the requester's, which has `index`) and another endpoint.
struct MessagePacket {
  PacketHeader head;             // detail: see below
  std::uint32_t to;              // serial of the receiving endpoint
  std::uint32_t from;            // serial of the sending endpoint
  std::uint16_t index;           // of the translation at the requester
  std::uint8_t credits[kKinds];  // to the requester: one-way requests of that kind read since last
  std::uint8_t status;           // of a returned message: why
  std::uint16_t unused;
  // A long message continues with Place; then arguments, rounded up to 8 bytes; then the payload.
};
static_assert(sizeof(MessagePacket) == 24);

// A message's detail: its Kind, the Kind of the request it answers, what it was before it came
// back, and whether the payload of a long message is in the packet.
inline constexpr std::uint8_t make_detail(Kind kind, Kind request = Kind::kShort,
                                          Opcode was = Opcode::kRequest,
                                          bool carries_payload = false) noexcept {
  return static_cast<std::uint8_t>(
      static_cast<unsigned>(kind) | static_cast<unsigned>(request) << 2 |
      static_cast<unsigned>(was) << 4 | static_cast<unsigned>(carries_payload) << 6);
}
inline constexpr unsigned kind_bits(std::uint8_t detail) noexcept { return detail & 3; }
inline constexpr unsigned request_bits(std::uint8_t detail) noexcept { return detail >> 2 & 3; }
inline constexpr unsigned opcode_bits(std::uint8_t detail) noexcept { return detail >> 4 & 3; }
inline constexpr bool carries_payload(std::uint8_t detail) noexcept {
  return (detail >> 6 & 1) != 0;
}

// Where the payload of a long message belongs, in the segment of the receiving endpoint.
struct Place {
  std::uint64_t offset;
  std::uint64_t bytes;
};
static_assert(sizeof(Place) == 16);

// What the two ends of a translation tell each other about themselves.
struct Introduction {
  MessagePacket message;
  Tag tag;               // with which the requester mapped the other
  std::uint64_t offset;  // of the endpoint's segment in the process's
  std::uint64_t bytes;
};
static_assert(sizeof(Introduction) == 48);

// Detail of a kCredits that answers a kFlush.
inline constexpr std::uint8_t kFlushed = 1;
inline constexpr std::uint8_t kFromRequester =
    1;  // detail of a kExtent; else it is to the requester

struct Barrier {
  PacketHeader head;  // detail: the round
  std::uint64_t epoch;
};
static_assert(sizeof(Barrier) == 16);

// Reading or writing the receiver's segment by its own hand.
struct Access {
  PacketHeader head;
  std::uint64_t offset;  // in the process's segment; of kPutDone, kGot, kChannel: in the operation
  std::uint64_t number;  // of kStore: offset of the counter; of kChannel and kRelay: which one;
                         // else the operation, to be given back
};
static_assert(sizeof(Access) == 24);

struct Count {
  PacketHeader head;
  std::uint64_t counter;  // offset of the word, in the process's segment
  std::uint64_t bytes;    // to be added to it
};
static_assert(sizeof(Count) == 24);

// Detail of a kRelay: the first, the last of several for one channel.
inline constexpr std::uint8_t kFirstRelay = 1;
inline constexpr std::uint8_t kLastRelay = 2;

struct Learn {
  PacketHeader head;
  std::uint64_t offset;    // of the store, in the receiver's segment
  std::uint64_t size;      // of the store, in bytes
  std::uint64_t counter;   // offset of the word, in the receiver's segment
  std::uint32_t question;  // to be given back
  std::uint32_t number;    // of kLearned: how the receiver knows it now
};
static_assert(sizeof(Learn) == 40);

inline constexpr std::uint32_t rounded(std::uint32_t bytes) noexcept { return (bytes + 7) & ~7u; }

inline constexpr std::uint32_t kMaxData = 4096;  // of one packet
inline constexpr std::uint32_t kMaxPacket =
    sizeof(MessagePacket) + sizeof(Place) + kMaxArgumentBytes + kMaxData;
static_assert(max_medium() == kMaxData && kMaxPacket % 8 == 0);

}  // namespace am::link
