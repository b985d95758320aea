#pragma once

#include <cstdint>
#include <type_traits>

#include "am/link/link.h"
#include "am/types/types.h"
#include "am/zero_copy/announcement.h"

// What the zero-copy engines of two processes say to each other: the arguments of messages between
// endpoints of their own, near and far alike.

namespace am::zero_copy {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no operation, no buffer

// The process that starts a transfer is its initiator; the process of the other buffer is the
// owner.
enum class Verb : std::uint8_t {
  kGet,      // initiator: move `bytes` from buffer {slot, generation} to `address`, of `key`
  kPut,      // initiator: the other way round
  kSend,     // owner of a destination: send pieces for its operation `slot`
  kDone,     // owner: operation `op` is through; with a key: use it next time
  kRefused,  // owner: it is not, see Refusal
  kMoved,    // initiator, or receiver of a request: `bytes` were moved from or to the buffer;
             // travels as Moved
  kRevoke,   // owner: forget the key of the buffer
  kRevoked,  // initiator: forgotten, and nothing is in flight with it
};

enum class Refusal : std::uint8_t { kNotRefused, kStale, kDeregistered, kTooSmall };

struct Control {
  Verb verb;
  Flag put{};  // of kMoved and kRefused: what it was
  Refusal why = Refusal::kNotRefused;
  Flag has_key{};
  std::uint32_t op = kNone;  // of the initiator
  std::uint32_t slot = kNone;
  std::uint32_t generation = 0;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  // of kRefused: the bytes of the buffer
  link::RemoteKey key{};
};
static_assert(std::is_trivially_copyable_v<Control> && sizeof(Control) <= kMaxArgumentBytes);

// A kMoved in short form, which fits the cache line that a message on a node occupies anyway.
struct Moved {
  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t bytes : 63;
  std::uint64_t put : 1;
};
static_assert(sizeof(Moved) == 16);

// A get that is answered by all its bytes.
struct Fetch {
  std::uint32_t op;  // of the initiator; comes back with the bytes
  std::uint32_t slot;
  std::uint32_t generation;
  std::uint32_t bytes;
};

// With a part of the bytes, or all of them, as payload.
struct Piece {
  std::uint32_t op;  // of the receiver
  std::uint32_t unused;
  std::uint64_t offset;
};

// With all bytes of a put.
struct Whole {
  std::uint32_t slot;
  std::uint32_t generation;
};

}  // namespace am::zero_copy
