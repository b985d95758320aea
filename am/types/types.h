// am/types: the words that every room of am speaks, and nothing that does something. It uses the
// standard library, and what shmem says of a segment's address. Any thread.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "am/types/abi.h"
#include "shmem/region.h"

namespace am {

using Rank = std::uint32_t;  // a process of the job: 0 to size - 1

// How a process waits; see am/core/wait.h.
enum class WaitPolicy : std::uint8_t { kAuto, kSpin, kYield, kBlock };

// Thrown by set-up calls and by calls that were given something impossible: one sentence with rank,
// call, value, cause and remedy.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The checked build checks every rule of the interface at every call and throws Error; the release
// build checks what costs nothing beside the call. am/types/abi.h says which one this is.
inline constexpr bool kChecked = SPLITPHASE_CHECKED != 0;

// The three message categories of Active Messages II.
enum class Kind : std::uint8_t {
  kShort,   // arguments only
  kMedium,  // and up to max_medium() bytes, valid while the handler runs
  kLong,    // and any number of bytes, written into the receiver's segment
};
inline constexpr int kKinds = 3;

// A place in an endpoint's handler table. 0 is reserved for returned messages.
using HandlerIndex = std::uint8_t;
inline constexpr int kHandlers = 256;

// The key of an endpoint: a message is delivered only if it was sent with the tag the receiving
// endpoint has (AM-II). Two values are special, on the receiver's side.
using Tag = std::uint64_t;
inline constexpr Tag kTagNone = 0;                 // deliver nothing: a new endpoint's tag
inline constexpr Tag kTagAll = ~std::uint64_t{0};  // deliver everything

inline constexpr std::uint32_t kMaxArgumentBytes = 64;  // of one message: AM-II's 16 words

// Largest payload of a medium message, in bytes.
inline constexpr std::uint32_t max_medium() noexcept { return 4096; }

// Where to find an endpoint: opaque bytes to be sent to those who shall map it (AM-II en_t).
// Valid while the endpoint lives.
struct Name {
  Rank rank;
  std::uint32_t serial;  // which endpoint of that process
  shmem::Region::Address mailbox;
};

// Why a message came back to its sender (AM-II's codes, numbered as AMUDP does).
enum class Status : std::uint32_t {
  kDelivered = 0,         // it did not
  kBadArguments = 1,      // the handler takes other arguments, or another category
  kBadTag = 3,            // the receiver's tag is another
  kBadHandler = 4,        // no handler has that index there
  kBadSegmentOffset = 5,  // the long payload would begin outside the segment
  kBadLength = 6,         // ... or end there
  kBadEndpoint = 7,       // there is no such endpoint (any more)
};
std::string_view describe(Status status) noexcept;

enum class Opcode : std::uint8_t { kRequest, kOneWay, kReply };

}  // namespace am
