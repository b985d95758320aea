#pragma once

#include <cstddef>
#include <cstdint>

#include "am/types/types.h"
#include "shmem/region.h"

// Every byte that crosses from one node to another.
//
// What is sent at a time is a frame: a header, and packets without gaps. Everything is in
// the order of bytes of the processes, which run on machines of one kind, and begins at a multiple
// of 8 bytes from where its frame begins.

namespace am::link {

struct FrameHeader {
  std::uint64_t token;  // random; the receiver's own, which it gave only to its job
  Rank source;
  std::uint32_t number;  // counts the frames from this source to this receiver, the first is 1
};
static_assert(sizeof(FrameHeader) == 16);

// The type of a packet. Whoever takes it registers with Port::add(); what is between endpoints,
// FarMessages. A new one changes kTypes, too.
enum class Type : std::uint8_t {
  kHello,     // Introduction: a translation begins to send; answered by kExtent or kGone
  kExtent,    // Introduction: what the sender (an endpoint) admits has changed, or was asked for
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
  kRelayed,   // PacketHeader, its detail from the kRelay: all that was to be passed on will be
  kLearn,     // Learn: a store repeats
  kLearned,   // Learn: it may be put
  kPing,      // PacketHeader: the link asks for a kPong
  kPong,      // PacketHeader
  kGone,      // MessagePacket without arguments, to a requester: there is no such endpoint any more
  kFragment,  // MessagePacket: part of the payload of the next long message
  kWrite,     // Access with data, without answer: a later packet announces it
  kStores,    // Stores: small ones that have one counter
  kPuts,      // Row of SmallStores; answered by kPutsDone
  kPutsDone,  // Row, of nothing
  kGets,      // Row of offsets in the process's segment, a word each; answered by kGotWords
  kGotWords,  // Row of words: what is there
  kAskRoom,   // PacketHeader: the link asks for room to write frames to
  kRoom,      // Room: where that is
  kRoomRead,  // PacketHeader, detail: so many frames that were written there have been read
};
inline constexpr std::size_t kTypes = static_cast<std::size_t>(Type::kRoomRead) + 1;

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
  PacketHeader head;         // detail: see below
  std::uint32_t to;          // serial of the receiving endpoint
  std::uint32_t from;        // serial of the sending endpoint
  std::uint32_t index : 24;  // of the translation at the requester
  std::uint32_t status : 8;  // of a returned message: why; of a long one: why it has no payload
  std::uint16_t credits;     // to the requester: see pack_credits()
  std::uint16_t epoch;       // of the requester's tag (am/message/tag_epochs.h); a reply repeats it
  // A long message continues with Place; then arguments, rounded up to 8 bytes; then the payload.
};
static_assert(sizeof(MessagePacket) == 24);
inline constexpr std::uint32_t kMaxIndices = 1 << 24;

// One-way requests of each Kind that were read since the last report: 6, 5 and 5 bits.
inline constexpr std::uint16_t pack_credits(std::uint32_t shorts, std::uint32_t mediums,
                                            std::uint32_t longs) noexcept {
  return static_cast<std::uint16_t>(shorts | mediums << 6 | longs << 11);
}
inline constexpr std::uint32_t credits_of(std::uint16_t credits, Kind kind) noexcept {
  switch (kind) {
    case Kind::kShort: return credits & 0x3f;
    case Kind::kMedium: return credits >> 6 & 0x1f;
    default: return credits >> 11;
  }
}

// A message's detail: its Kind, the Kind of the request it answers, what it was before it came
// back, and whether the payload of a long message is in the packet.
inline constexpr std::uint8_t make_detail(Kind kind, Kind request = Kind::kShort,
                                          Role was = Role::kRequest,
                                          bool carries_payload = false) noexcept {
  return static_cast<std::uint8_t>(
      static_cast<unsigned>(kind) | static_cast<unsigned>(request) << 2 |
      static_cast<unsigned>(was) << 4 | static_cast<unsigned>(carries_payload) << 6);
}
inline constexpr unsigned kind_bits(std::uint8_t detail) noexcept { return detail & 3; }
inline constexpr unsigned request_bits(std::uint8_t detail) noexcept { return detail >> 2 & 3; }
inline constexpr unsigned role_bits(std::uint8_t detail) noexcept { return detail >> 4 & 3; }
inline constexpr bool carries_payload(std::uint8_t detail) noexcept {
  return (detail >> 6 & 1) != 0;
}
inline constexpr std::uint8_t kFirstFragment = 0x80;  // in a kFragment's detail: of a payload

// Where the payload of a long message belongs: in the packet, or written before it, or sent before
// it as kFragment, or, if the packet has a status, left out.
struct Place {
  std::uint64_t offset;  // in the segment of the receiving endpoint
  std::uint64_t bytes;
  // For a payload that was written: the offset of the endpoint's segment in that of the process.
  // For one sent in fragments: Extent::kElsewhere.
  std::uint64_t base;
};
static_assert(sizeof(Place) == 24);

// What the two ends of a translation say to each other about themselves. Its data are the handlers
// that take long messages, a word each, see make_long_handler().
struct Introduction {
  MessagePacket message;  // detail: flags of the following
  Tag tag;                // of kHello: with which the requester mapped the other
  std::uint64_t offset;   // of the endpoint's segment in the process's
  std::uint64_t bytes;
  shmem::Region::Address mailbox;  // of the endpoint, for processes of its node
};
static_assert(sizeof(Introduction) == 72);

inline constexpr std::uint8_t kFromRequester = 1;  // a kExtent; else it is to the requester
inline constexpr std::uint8_t kAsks = 2;           // a kExtent from it, to be answered by another
inline constexpr std::uint8_t kAnswers = 4;        // a kExtent to it, as it asked
// A kExtent to the requester: messages with its tag are admitted. Others: the requester's tag is
// kTagAll, so that it takes replies to all its requests.
inline constexpr std::uint8_t kAdmits = 8;

inline constexpr std::uint32_t make_long_handler(HandlerIndex index, std::uint16_t shape) noexcept {
  return std::uint32_t{index} << 16 | shape;
}

// Detail of a kCredits that answers a kFlush.
inline constexpr std::uint8_t kFlushed = 1;

// A round of a barrier between nodes.
struct Barrier {
  PacketHeader head;  // detail: the round, below 32, and perhaps kMore
  std::uint64_t epoch;
};
static_assert(sizeof(Barrier) == 16);

// In the detail of a Barrier: some process has entered with more to do.
inline constexpr std::uint8_t kMore = 0x80;

// A read or write of the receiver's segment that the receiver itself carries out (no RMA).
struct Access {
  PacketHeader head;
  std::uint64_t offset;  // in the process's segment; of kPutDone, kGot, kChannel: in the operation;
                         // of kRelay: what the detail of its kRelayed shall be
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

// Stores of 1 to 8 bytes each, which are counted together. Behind it stand SmallStores, at least
// one.
struct Stores {
  PacketHeader head;      // detail: bytes of each
  std::uint64_t counter;  // offset of the word, in the process's segment
};
static_assert(sizeof(Stores) == 16);
struct SmallStore {
  std::uint64_t offset;  // in the process's segment
  std::byte data[8];
};
static_assert(sizeof(SmallStore) == 16);

// Gets or puts of 1 to 8 bytes each, which are answered together. They stand behind it, at least
// one.
struct Row {
  PacketHeader head;   // detail: bytes of each
  std::uint64_t name;  // of the requester, to be given back
};
static_assert(sizeof(Row) == 16);

// Detail of a kRelay: the first, the last of several for one channel.
inline constexpr std::uint8_t kFirstRelay = 1;
inline constexpr std::uint8_t kLastRelay = 2;

struct Learn {
  PacketHeader head;
  std::uint64_t offset;    // of the store, in the receiver's segment
  std::uint64_t size;      // of the store, in bytes
  std::uint64_t counter;   // offset of the word, in the receiver's segment
  std::uint64_t question;  // to be given back
  std::uint64_t word;      // of kLearned: the completion data of such puts; 0: refused
};
static_assert(sizeof(Learn) == 48);

// Where one process may write frames to another one, instead of sending them.
struct Room {
  PacketHeader head;
  std::uint64_t base;  // of the first place, and its key
  std::uint64_t key;
  std::uint64_t word;  // completion data of a frame there, see WrittenFrames
};
static_assert(sizeof(Room) == 32);

inline constexpr std::uint32_t rounded(std::uint32_t bytes) noexcept { return (bytes + 7) & ~7u; }

inline constexpr std::uint32_t kMaxData = 4096;  // of one packet
inline constexpr std::uint32_t kMaxPacket =
    sizeof(MessagePacket) + sizeof(Place) + kMaxArgumentBytes + kMaxData;
static_assert(max_medium() == kMaxData && kMaxPacket % 8 == 0);

}  // namespace am::link
