#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shmem/attention.h"
#include "shmem/flag.h"
#include "shmem/ring.h"

// Every byte of a mailbox in shared memory; a slot is in shmem/ring.h. All zero is an empty
// mailbox. Nothing here is touched before it is used: an unused inbox costs address space only.

namespace shmem {

// The mark of a reply that carries nothing: a credit alone.
inline constexpr Mark kNoReply = 0;

enum class Lane : std::uint8_t { kShort, kMedium, kLong };
inline constexpr std::uint32_t kLanes = 3;
inline constexpr std::uint32_t index(Lane lane) noexcept {
  return static_cast<std::uint32_t>(lane);
}

// Requests in flight per sender and lane.
inline constexpr std::uint32_t kWindow[kLanes] = {64, 16, 16};
inline constexpr std::uint32_t window(Lane lane) noexcept { return kWindow[index(lane)]; }

// How many threads use a mailbox or an outbox at a time. kAny: one at a time is inside, by a lock
// of the user's, but for the time that a sink takes: it may release the lock in each of its
// functions, and has it again when it returns.
enum class Threads : std::uint8_t { kOne, kAny };

// Of Threads::kAny: marks one of several lanes as being passed on, so that others leave it alone.
class Turn {
 public:
  Turn(std::uint8_t& busy, std::uint32_t which) noexcept
      : busy_(busy), bit_(static_cast<std::uint8_t>(1u << which)) {
    busy_ |= bit_;
  }
  ~Turn() { busy_ &= static_cast<std::uint8_t>(~bit_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::uint8_t& busy_;
  const std::uint8_t bit_;
};

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kPayloadBytes = 4096;  // of one medium request or reply
inline constexpr std::size_t kCallerBytes = 1024;
inline constexpr int kBudget = 64;          // messages of one lane per poll
inline constexpr std::uint32_t kAhead = 4;  // slots to fetch ahead in a stream

// Arguments that do not fit into a slot's 24 bytes.
struct alignas(kCacheLine) Extension {
  std::byte request[64];
  std::byte reply[64];
};

// A ring, and at the same distance from its slots what belongs to each: so a slot's address says
// where the rest is.
template <std::uint32_t kSlots>
struct RingMemory {
  static_assert(kSlots <= kPage / sizeof(Slot));
  alignas(kPage) Slot slots[kSlots];
  alignas(kPage) Extension extensions[kPage / sizeof(Slot)];  // as many in each lane
  std::byte reply_payloads[kSlots][kPayloadBytes];
};

// One request and the room its reply lives in. Valid until the reply has been committed (receiver)
// or released (sender). No more than the address of its slot, in a RingMemory: the rest is found
// when it is used.
class Room {
 public:
  Room() = default;
  explicit Room(Slot* at) noexcept : slot(at) {}

  // Of `slot`, which is in a RingMemory, the place in its ring.
  static std::uint32_t place(const Slot& slot) noexcept {
    return static_cast<std::uint32_t>(offset(slot) / sizeof(Slot));
  }
  Extension& extension() const noexcept {
    static_assert(sizeof(Extension) == 2 * sizeof(Slot));
    return *reinterpret_cast<Extension*>(address(*slot) + kPage + offset(*slot));
  }
  std::byte* reply_payload() const noexcept {  // kPayloadBytes
    const std::uintptr_t page = address(*slot) - offset(*slot);
    return reinterpret_cast<std::byte*>(page + kReplyPayloads + place(*slot) * kPayloadBytes);
  }
  std::byte* request_payload() const noexcept {  // kPayloadBytes; only in the medium lane
    return reply_payload() + window(Lane::kMedium) * kPayloadBytes;
  }

  Slot* slot;

 private:
  static constexpr std::size_t kReplyPayloads = 3 * kPage;
  static_assert(offsetof(RingMemory<window(Lane::kShort)>, reply_payloads) == kReplyPayloads &&
                offsetof(RingMemory<window(Lane::kMedium)>, reply_payloads) == kReplyPayloads &&
                offsetof(RingMemory<window(Lane::kMedium)>, extensions) == kPage);

  static std::uintptr_t address(const Slot& slot) noexcept {
    return reinterpret_cast<std::uintptr_t>(&slot);
  }
  static std::uintptr_t offset(const Slot& slot) noexcept { return address(slot) % kPage; }
};

// The one of three things that belongs to a lane.
template <Lane kLane, class Short, class Medium, class Long>
constexpr auto& of_lane(Short& shorts, Medium& mediums, Long& longs) noexcept {
  if constexpr (kLane == Lane::kShort) {
    return shorts;
  } else if constexpr (kLane == Lane::kMedium) {
    return mediums;
  } else {
    return longs;
  }
}

// The three cursors of a sender (Producer) or a receiver (Consumer).
template <template <std::uint32_t> class Cursor>
struct Cursors {
  template <Lane kLane>
  auto& of() noexcept {
    return of_lane<kLane>(shorts, mediums, longs);
  }
  template <Lane kLane>
  const auto& of() const noexcept {
    return of_lane<kLane>(shorts, mediums, longs);
  }

  Cursor<window(Lane::kShort)> shorts;
  Cursor<window(Lane::kMedium)> mediums;
  Cursor<window(Lane::kLong)> longs;
};

struct alignas(kPage) Inbox {
  template <Lane kLane>
  auto& ring() noexcept {
    return of_lane<kLane>(shorts, mediums, longs);
  }
  template <Lane kLane>
  Slot* slots() noexcept {
    return ring<kLane>().slots;
  }
  template <Lane kLane>
  Room room(std::uint32_t slot) noexcept {
    return Room(&slots<kLane>()[slot]);
  }

  // Written by the sender: `caller` before its first message, the rest as its last act.
  alignas(8) std::byte caller[kCallerBytes];  // who it is
  std::uint32_t caller_bytes;
  std::int32_t pid;                     // of its process
  std::uint64_t next_sequence[kLanes];  // where the next sender goes on; 0: from the beginning
  std::uint32_t last_slot[kLanes];
  std::uint64_t unread[kLanes];  // slots whose replies the sender has not read, a bit each

  Progress progress[kLanes];  // written by the receiver

  RingMemory<window(Lane::kShort)> shorts;
  RingMemory<window(Lane::kMedium)> mediums;
  std::byte medium_requests[window(Lane::kMedium)][kPayloadBytes];  // behind their ring
  RingMemory<window(Lane::kLong)> longs;
};

// The life of an inbox: free -> claimed (by a sender, which then writes who it is) -> in use ->
// closed (by that sender) -> free (by the receiver, when it has read everything). One that is
// claimed says by which process, as that may die before it has written who it is.
enum class InboxState : std::uint32_t { kFree, kClaimed, kInUse, kClosed };
inline constexpr InboxState claimed_by(std::int32_t pid) noexcept {  // at most 22 bits
  return static_cast<InboxState>(static_cast<std::uint32_t>(pid) << 2 |
                                 static_cast<std::uint32_t>(InboxState::kClaimed));
}

// The receiver polls places (shmem/attention.h), four of each inbox: three rings, and "the sender
// has closed". Those of one inbox lie in one word of the bits, within which Outbox::announce()
// shifts: so their number divides 64.
inline constexpr std::uint32_t kPlacesPerInbox = 4;
inline constexpr std::uint32_t kClosedPlace = 3;
inline constexpr std::uint32_t kMaxInboxes = 1024;
inline constexpr std::uint32_t place_of(std::uint32_t inbox, std::uint32_t which) noexcept {
  return inbox * kPlacesPerInbox + which;
}
using MailboxBits = AttentionBits<kMaxInboxes * kPlacesPerInbox>;

struct alignas(kPage) MailboxHeader {
  static constexpr std::uint64_t kMagic = 0x34307862'6c69616d;  // "mailbx04"

  Inbox* inbox(std::uint32_t number) noexcept {
    return reinterpret_cast<Inbox*>(reinterpret_cast<std::byte*>(this + 1)) + number;
  }

  std::uint64_t magic;
  std::uint32_t inboxes;
  alignas(kCacheLine) std::atomic<std::uint32_t> closed;  // by its owner, for ever
  MailboxBits attention;
  alignas(kCacheLine) std::atomic<InboxState> states[kMaxInboxes];
  alignas(kPage) std::byte owner_page[kPage];
};
static_assert(sizeof(Half::bytes) == 24 && sizeof(Extension) == 128);
static_assert(offsetof(MailboxHeader, owner_page) % kPage == 0);

}  // namespace shmem
