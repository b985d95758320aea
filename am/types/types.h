// am/types: the words that every room of am speaks, and nothing that does something. It uses the
// standard library, and what shmem says of a segment's address. Any thread.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "am/types/abi.h"
#include "shmem/owned.h"
#include "shmem/region.h"

namespace am {

using shmem::Owned;

// A process of the job, 0 to Job::size() - 1.
using Rank = std::uint32_t;

// How a process waits (SPLITC_WAIT; docs/progress.md). It polls all the while.
//   kAuto     spin, then yield the core, then sleep; no spinning where processes outnumber cores
//   kSpin     never give the core away
//   kYield    spin, then yield; never sleep
//   kBlock    sleep at once
enum class WaitPolicy : std::uint8_t { kAuto, kSpin, kYield, kBlock };

// Thrown by every call that cannot be done: what() is one sentence with rank, call, value, cause
// and remedy. A call that throws it has had no effect, unless its comment says otherwise.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thrown by every call that cannot go on as it needs a process that has died, in a job that goes on
// without its dead (splitcrun --survive). Elsewhere a death ends the job.
struct PeerDied : Error {
  PeerDied(Rank self, const std::string& call, Rank dead);

  Rank rank;  // that has died; one of those, if several have
};

// Whether this is the checked build, which checks every rule of the interface at every call and
// throws Error. The release build checks what costs nothing beside the call. All parts of a
// program, and all processes of a job, are built the same; am/types/abi.h says which one this is.
inline constexpr bool kChecked = SPLITPHASE_CHECKED != 0;

// The three categories of messages of Active Messages II (AM_RequestM, AM_RequestIM,
// AM_RequestXferM). Each has 0 to kMaxArgumentBytes of arguments.
enum class Kind : std::uint8_t {
  kShort,   // arguments only
  kMedium,  // and 0 to max_medium() bytes, in library memory that is valid while the handler runs
  kLong,    // and any number of bytes, written into the receiver's segment
};
inline constexpr int kKinds = 3;  // how many there are

// A place in an endpoint's handler table, 1 to 255. 0 is reserved for returned messages.
using HandlerIndex = std::uint8_t;
inline constexpr int kHandlers = 256;  // places in the table; AM-II requires as many at least

// The key of an endpoint: a message is delivered only if it was sent with the tag that the
// receiving endpoint has (AM-II). Two values are special, on the receiver's side only: a message
// that is sent with kTagAll does not reach everybody.
using Tag = std::uint64_t;
// (The endpoints of a job usually have one tag, which Job::connect() gives them.)
inline constexpr Tag kTagNone = 0;                 // deliver nothing: a new endpoint's tag
inline constexpr Tag kTagAll = ~std::uint64_t{0};  // deliver everything

// Most bytes of arguments of one message: 16 words of 4 bytes. AM-II requires 8 words at least.
inline constexpr std::uint32_t kMaxArgumentBytes = 64;

// Most bytes of payload of a medium message (AM_MaxMedium). AM-II requires 512 at least.
inline constexpr std::uint32_t max_medium() noexcept { return 4096; }

// Where an endpoint is: opaque plain bytes (AM-II en_t), to be sent by any means to the processes
// of this job that are to map it. Means something while the endpoint lives; later messages to it
// come back as Status::kBadEndpoint.
struct Name {
  Rank rank;
  std::uint32_t serial;            // which endpoint of that process
  shmem::Region::Address mailbox;  // of processes of its node
};

// Why a message came back to its sender (AM-II's codes EBADARGS to EREPLYREJECTED, with the numbers
// of Berkeley's AMUDP).
enum class Status : std::uint32_t {
  kDelivered = 0,         // it did not come back
  kBadArguments = 1,      // the handler takes other arguments, or another category of message
  kBadEntry = 2,          // AM-II's EBADENTRY: here a request to an unmapped index is an Error
  kBadTag = 3,            // the receiver has another tag
  kBadHandler = 4,        // the receiver has no handler at that index
  kBadSegmentOffset = 5,  // the long payload would begin outside the receiver's segment
  kBadLength = 6,         // ... or end outside it
  kBadEndpoint = 7,       // there is no such endpoint any more
  kCongestion = 8,        // no memory there for its payload, or for the answer to a get
  kUnreachable = 9,       // its process has died, and it is not known whether it was handled
  kReplyRejected = 10     // a reply that its requester did not take
};
// AM-II's name of the code and a sentence about it; a string constant. Any thread.
std::string_view describe(Status status) noexcept;

// What a message is to its handler (AM-II's opcodes, without the kinds).
enum class Role : std::uint8_t { kRequest, kOneWay, kReply };

}  // namespace am
