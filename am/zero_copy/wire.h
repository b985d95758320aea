#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/link/link.h"
#include "am/types/types.h"

// What the zero-copy engines of two processes say to each other: the arguments of messages between
// endpoints of their own, near and far alike.

namespace am::zero_copy {

// A bool in a message: what arrives may have any value.
class Flag {
 public:
  Flag() = default;
  constexpr Flag(bool value) noexcept : value_(value) {}
  constexpr operator bool() const noexcept { return value_ != 0; }

 private:
  std::uint8_t value_ = 0;
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no operation, no buffer

// Who starts a transfer is its initiator; the process of the other buffer is the owner.
enum class Verb : std::uint8_t {
  kGet,      // initiator: move `bytes` from buffer {slot, generation} to `address`, of `key`
  kPut,      // initiator: the other way round
  kSend,     // owner of a destination: send pieces for its operation `slot`
  kDone,     // owner: operation `op` is through; with a key: use it next time
  kRefused,  // owner: it is not, see Refusal
  kMoved,    // initiator, or who was sent a request: `bytes` were moved from or to the buffer;
             // travels as Moved
  kRevoke,   // owner: forget the key of the buffer
  kRevoked,  // initiator: forgotten, and nothing is under way with it
};

enum class Refusal : std::uint8_t { kNone, kStale, kDeregistered, kTooSmall };

struct Control {
  Verb verb;
  Flag put{};  // of kMoved and kRefused: what it was
  Refusal why = Refusal::kNone;
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

// A request with a payload that lies in a buffer of the sender, or comes along.
struct Announcement {
  static constexpr std::size_t kArgumentBytes = 32;

  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t address;
  std::uint64_t bytes;
  HandlerIndex handler;
  std::uint8_t words;
  Flag along;
  std::uint8_t unused[5];
  std::byte arguments[kArgumentBytes];
};
static_assert(sizeof(Announcement) <= kMaxArgumentBytes);

}  // namespace am::zero_copy
